#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A time of the wall clock, for log lines.
public struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z.
    public let seconds: Int
    /// The milliseconds of that second, 0…999.
    public let milliseconds: Int

    /// Makes a time from its parts.
    init(seconds: Int, milliseconds: Int) {
        self.seconds = seconds
        self.milliseconds = milliseconds
    }

    /// The time now.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: time.tv_sec, milliseconds: time.tv_nsec / 1_000_000)
    }

    /// In UTC as RFC 3339 writes it, `2026-11-21T01:35:33.250Z`.
    public var rfc3339: String {
        var seconds = seconds
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date = [
            padded(Int(parts.tm_year) + 1900, 4), padded(Int(parts.tm_mon) + 1, 2),
            padded(Int(parts.tm_mday), 2),
        ]
        let time = [
            padded(Int(parts.tm_hour), 2), padded(Int(parts.tm_min), 2), padded(Int(parts.tm_sec), 2),
        ]
        return date.joined(separator: "-") + "T" + time.joined(separator: ":") + "." + padded(milliseconds, 3)
            + "Z"
    }

    private func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
