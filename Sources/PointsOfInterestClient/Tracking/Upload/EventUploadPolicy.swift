/// How a queue's events are sent.
public struct EventUploadPolicy: Hashable, Sendable {
    /// The most events of a request, 1…`EventLimits.events`.
    public var batchEvents: Int
    /// How long events gather before they are sent, so that a request carries several.
    public var gathering: Duration
    /// The longest pause after a first failure; it doubles with every further one.
    public var firstPause: Duration
    /// The longest pause of all, unless the service asks for a longer one.
    public var longestPause: Duration
    /// The longest `Retry-After` that is heeded; a longer one counts as this.
    public var longestRetryAfter: Duration

    /// Makes a policy.
    public init(
        batchEvents: Int = EventLimits.events, gathering: Duration = .seconds(2),
        firstPause: Duration = .seconds(1), longestPause: Duration = .seconds(300),
        longestRetryAfter: Duration = .seconds(3600)
    ) {
        self.batchEvents = min(max(batchEvents, 1), EventLimits.events)
        self.gathering = gathering
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.longestRetryAfter = longestRetryAfter
    }

    /// The pause after failures.
    ///
    /// - Parameters:
    ///   - failures: how many there were in a row, from 1.
    ///   - retryAfter: what the service asked for; jitter comes on top, or all its clients would be back at once.
    ///   - jitter: 0…1: which part of the longest pause (AWS Architecture Blog, "Exponential Backoff And
    ///     Jitter": full jitter).
    func pause(failures: Int, retryAfter: Duration?, jitter: Double) -> Duration {
        // Doubled at most so often that nothing overflows.
        let backOff = min(firstPause * (1 << min(max(failures - 1, 0), 20)), longestPause) * jitter
        return min(retryAfter ?? .zero, longestRetryAfter) + backOff
    }
}
