/// How often a client may ask.
public struct RateLimit: Hashable, Sendable {
    /// Requests in each period.
    public let count: Int
    /// The period, in seconds.
    public let periodSeconds: Int
    /// How many requests may come at once after a pause.
    public var burst: Int

    /// Reads `20/s`, `600/m` or `5000/h`; nil for all else. A burst is as many as there are in a period.
    public init?(settingText text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), (1...1_000_000).contains(count),
            let periodSeconds = ["s": 1, "m": 60, "h": 3600][String(parts[1])]
        else { return nil }
        self.count = count
        self.periodSeconds = periodSeconds
        burst = count
    }

    /// The time in which one more request becomes free, in nanoseconds, above 0.
    var intervalNanoseconds: Int64 { Int64(periodSeconds) * 1_000_000_000 / Int64(count) }
}
