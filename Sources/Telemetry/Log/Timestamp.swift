#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A time of the wall clock.
public struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z.
    public let seconds: Int
    /// The milliseconds of that second, 0…999.
    public let milliseconds: Int

    /// Makes a time from its parts.
    package init(seconds: Int, milliseconds: Int) {
        self.seconds = seconds
        self.milliseconds = milliseconds
    }

    /// Seconds since 1970-01-01T00:00:00Z, with the milliseconds.
    package var secondsSince1970: Double { Double(seconds) + Double(milliseconds) / 1000 }

    /// The time now.
    public static var now: Timestamp {
        let (seconds, rest) = WallClock.nanoseconds().quotientAndRemainder(dividingBy: 1_000_000_000)
        return Timestamp(seconds: Int(seconds), milliseconds: Int(rest / 1_000_000))
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    package var nanosecondsSince1970: Int64 {
        Int64(seconds) * 1_000_000_000 + Int64(milliseconds) * 1_000_000
    }

    /// The time in UTC by RFC 3339, such as `2026-11-21T01:35:33.250Z`.
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

/// The system's clock, which somebody may set.
package enum WallClock {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
