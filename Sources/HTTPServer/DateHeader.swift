#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The value of the `Date` field, made once a second (RFC 9110 section 5.6.7).
struct DateHeader {
    private var second = Int.min
    private var text: [UInt8] = []

    /// The value for now, by the system's clock.
    mutating func now() -> [UInt8] {
        let now = time(nil)
        if now != second {
            second = now
            text = Self.format(secondsSince1970: now)
        }
        return text
    }

    /// A time as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func format(secondsSince1970 seconds: Int) -> [UInt8] {
        var seconds = seconds
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(padded(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
        let time = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
        return Array("\(days[Int(parts.tm_wday)]), \(date) \(time) GMT".utf8)
    }
}
