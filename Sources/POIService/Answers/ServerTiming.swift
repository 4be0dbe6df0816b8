/// Values of `Server-Timing` (W3C Server Timing, section 3): durations in milliseconds.
enum ServerTiming {
    /// The database's share of an answer's time, to a microsecond.
    static func database(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = max(0, attoseconds / 1_000_000_000_000)
        let (milliseconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1000)
        let fraction = rest < 10 ? "00\(rest)" : rest < 100 ? "0\(rest)" : "\(rest)"
        // A query that takes an hour has ended long before.
        return "db;dur=\(min(max(0, seconds), 3600) * 1000 + milliseconds).\(fraction)"
    }
}
