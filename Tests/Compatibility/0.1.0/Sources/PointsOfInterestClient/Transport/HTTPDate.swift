import Foundation

/// A date in a field of HTTP (RFC 9110, section 5.6.7).
enum HTTPDate {
    /// The form that is sent today, and the two obsolete ones that must still be read: RFC 850's and asctime's.
    private static let formats = [
        "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
    ]

    /// The date; nil where the value has none of the three forms.
    static func parse(_ value: String) -> Date? {
        let value = value.trimmingCharacters(in: .whitespaces)
        // One for each call: rare enough, and formatters are not to be changed while others use them.
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for format in formats {
            formatter.dateFormat = format
            if let date = formatter.date(from: value) { return date }
        }
        return nil
    }
}
