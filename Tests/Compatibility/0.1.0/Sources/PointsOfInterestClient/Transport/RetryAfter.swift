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
        guard let date = HTTPDate.parse(value) else { return nil }
        return .seconds(max(0, min(date.timeIntervalSince(now), 1e12)))
    }
}
