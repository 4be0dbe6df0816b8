import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How often, after which failures and when a request is sent again.
///
/// Only requests that change nothing are (RFC 9110, section 9.2.2), and only after failures that may pass by
/// themselves: a lost or refused connection, a time-out, 429, 502, 503 and 504.
public struct RetryPolicy: Hashable, Sendable {
    /// How often a request is sent in all, at least 1.
    public var attempts: Int
    /// The longest pause before the second attempt; it doubles with every further one.
    public var firstPause: Duration
    /// The longest pause of all.
    public var longestPause: Duration
    /// The longest `Retry-After` to wait for; where the service asks for more, its answer stands.
    public var longestRetryAfter: Duration

    /// Makes a policy.
    public init(
        attempts: Int = 3, firstPause: Duration = .milliseconds(250), longestPause: Duration = .seconds(5),
        longestRetryAfter: Duration = .seconds(10)
    ) {
        self.attempts = attempts
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.longestRetryAfter = longestRetryAfter
    }

    /// Sends every request once.
    public static let never = RetryPolicy(attempts: 1)

    private static let passingStatuses: Set<Int> = [429, 502, 503, 504]
    private static let passingErrors: Set<URLError.Code> = {
        var codes: Set<URLError.Code> = [
            .timedOut, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed,
        ]
        #if canImport(FoundationNetworking)
            // How Linux tells of a connection that was closed before an answer, or in the midst of its body
            // (seen with Swift 6.3); elsewhere both are lost connections.
            codes.formUnion([.badServerResponse, .unknown])
        #endif
        return codes
    }()

    /// The pause before a request is sent again; nil where it isn't.
    ///
    /// Never shorter than `Retry-After`, and jitter comes on top of that: all the clients that an overloaded
    /// service has told the same second must not be back in the same instant.
    ///
    /// - Parameters:
    ///   - attempt: how often it was sent already, from 1.
    ///   - jitter: 0…1: which part of the longest pause (AWS Architecture Blog, "Exponential Backoff And
    ///     Jitter": full jitter).
    ///   - now: what a date in `Retry-After` is counted from where the answer has no `Date` of its own, which
    ///     is better: the service's clock and the device's may differ.
    func pause(
        after outcome: Result<Answer, RequestError>, attempt: Int, jitter: Double, now: Date
    ) -> Duration? {
        guard attempt < attempts, Self.mayPass(outcome) else { return nil }
        // Doubled at most so often that nothing overflows.
        let backOff = min(firstPause * (1 << min(attempt - 1, 20)), longestPause) * jitter
        guard case .success(let answer) = outcome, let field = answer.head.value(forField: "Retry-After"),
            let retryAfter = RetryAfter.parse(
                field, now: answer.head.value(forField: "Date").flatMap(HTTPDate.parse) ?? now)
        else { return backOff }
        return retryAfter > longestRetryAfter ? nil : retryAfter + backOff
    }

    private static func mayPass(_ outcome: Result<Answer, RequestError>) -> Bool {
        switch outcome {
        case .success(let answer): passingStatuses.contains(answer.head.status)
        case .failure(let error): error.urlErrorCode.map(passingErrors.contains) ?? false
        }
    }
}
