import Foundation

/// The field `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// How long to wait from `now` on; not negative. Nil where the value is neither.
    static func parse(_ value: String, now: Date) -> Duration? {
        let value = value.trimmingCharacters(in: .whitespaces)
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // More than fits is longer than anybody waits.
            return .seconds(min(Int64(value) ?? .max, 1 << 40))
        }
        guard let date = date(value) else { return nil }
        return .seconds(max(0, min(date.timeIntervalSince(now), 1e12)))
    }

    /// An IMF-fixdate: the only form of a date that is sent (RFC 9110, section 5.6.7).
    private static func date(_ value: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: value)
    }
}
