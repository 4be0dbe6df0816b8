import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How often and when a request is sent again after a failure.
///
/// Only requests that change nothing are sent again (RFC 9110, section 9.2.2), and those with an `Idempotency-Key`, which a
/// service does once however often they arrive; and only after failures that may pass: a lost or refused connection, a
/// time-out, a damaged response, and the statuses 429, 502, 503 and 504. While connections are refused,
/// a request is sent again for some seconds, however often: a service that is restarted takes that long, and a refusal costs
/// nobody anything.
public struct RetryPolicy: Hashable, Sendable {
    /// How often a request is sent in all, from 1.
    public var attempts: Int
    /// The maximum pause before the second attempt; it doubles with each further attempt.
    public var firstPause: Duration
    /// The maximum pause before any attempt.
    public var maximumPause: Duration
    /// The maximum `Retry-After` to wait for. Where the service asks for more, its response is final.
    public var maximumRetryAfter: Duration
    /// For how long a request is sent again while connections are refused, from its first attempt on. These attempts don't
    /// count; a refused connection after that is final.
    public var refusalPeriod: Duration

    /// Makes a policy.
    public init(
        attempts: Int = 3, firstPause: Duration = .milliseconds(250), maximumPause: Duration = .seconds(5),
        maximumRetryAfter: Duration = .seconds(10), refusalPeriod: Duration = .seconds(3)
    ) {
        self.attempts = attempts
        self.firstPause = firstPause
        self.maximumPause = maximumPause
        self.maximumRetryAfter = maximumRetryAfter
        self.refusalPeriod = refusalPeriod
    }

    /// The policy that sends each request once.
    public static let never = RetryPolicy(attempts: 1, refusalPeriod: .zero)

    /// The pauses between attempts whose connections are refused: the first, and the longest.
    private static let refusalPauses: (first: Duration, maximum: Duration) =
        (.milliseconds(250), .milliseconds(500))

    private static let passingStatuses: Set<Int> = [429, 502, 503, 504]
    private static let passingErrors: Set<URLError.Code> = {
        var codes: Set<URLError.Code> = [
            .timedOut, .networkConnectionLost, .cannotFindHost, .dnsLookupFailed,
        ]
        #if canImport(FoundationNetworking)
            // What Linux reports where a connection is closed before the response or in its body (seen with
            // Swift 6.3). Elsewhere both are `.networkConnectionLost`.
            codes.formUnion([.badServerResponse, .unknown])
        #endif
        return codes
    }()

    /// Returns the pause before a request is sent again; nil where it isn't.
    ///
    /// The pause is never shorter than `Retry-After`. Jitter is added to that, so that all the clients that an
    /// overloaded service told the same time don't come back at once.
    ///
    /// - Parameters:
    ///   - attempt: how often it was sent so far, from 1, without those whose connections were refused.
    ///   - jitter: the factor of the pause, 0…1 (AWS Architecture Blog, "Exponential Backoff And Jitter": full
    ///     jitter).
    ///   - now: what a date in `Retry-After` is counted from where the response has no `Date`. Its `Date` is
    ///     preferred, since the device's clock may be wrong.
    func pause(
        after outcome: Result<ServiceResponse, RequestError>, attempt: Int, jitter: Double, now: Date
    ) -> Duration? {
        guard attempt < attempts, Self.mayPass(outcome) else { return nil }
        let backOff = firstPause.backedOff(doublings: attempt - 1, maximum: maximumPause) * jitter
        guard case .success(let response) = outcome, let retryAfter = response.head.retryAfter(now: now)
        else { return backOff }
        return retryAfter > maximumRetryAfter ? nil : retryAfter + backOff
    }

    /// Returns the pause before a request is sent again whose connection was refused; nil where it isn't.
    ///
    /// - Parameters:
    ///   - refusals: how often that has happened, from 1.
    ///   - jitter: half of the pause is random, 0…1, so that there are few attempts (as above: equal jitter).
    ///   - elapsed: how much time has passed since the first attempt began. The last attempt is at the period's end.
    func pause(refusals: Int, jitter: Double, elapsed: Duration) -> Duration? {
        guard elapsed < refusalPeriod else { return nil }
        let (first, maximum) = Self.refusalPauses
        let pause = first.backedOff(doublings: refusals - 1, maximum: maximum)
        return min(pause / 2 + pause / 2 * jitter, refusalPeriod - elapsed)
    }

    private static func mayPass(_ outcome: Result<ServiceResponse, RequestError>) -> Bool {
        switch outcome {
        case .success(let response): passingStatuses.contains(response.head.status)
        case .failure(let error):
            if case .damagedBody = error.reason {
                true
            } else {
                error.urlErrorCode.map(passingErrors.contains) ?? false
            }
        }
    }
}

/// Sends a request again after failures that may pass.
struct RetryingTransport: Transport {
    let base: any Transport
    let policy: RetryPolicy
    let clock: any Clock<Duration>
    /// Returns a random number in 0…1.
    let jitter: @Sendable () -> Double
    let now: @Sendable () -> Date
    /// How long all attempts of a request may take, with the pauses between them. No pause begins that would end later.
    /// `TimeLimit` ends an attempt that takes longer.
    let limits: TimeLimits

    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        let elapsed = clock.stopwatch()
        var (attempts, refusals) = (0, 0)
        while true {
            let outcome = await base.outcome(of: request)
            let pause: Duration?
            if outcome.isRefusedConnection {
                refusals += 1
                pause = policy.pause(refusals: refusals, jitter: jitter(), elapsed: elapsed())
            } else {
                attempts += 1
                pause = policy.pause(after: outcome, attempt: attempts, jitter: jitter(), now: now())
            }
            guard request.isRepeatable, let pause, elapsed() + pause < limits.total(for: request) else {
                return try outcome.get()
            }
            do {
                try await clock.sleep(for: pause)
            } catch {
                throw .cancelled
            }
        }
    }
}

extension Result<ServiceResponse, RequestError> {
    /// Whether nothing listens where the request was sent.
    fileprivate var isRefusedConnection: Bool {
        guard case .failure(let error) = self else { return false }
        return error.urlErrorCode == .cannotConnectToHost
    }
}

/// The header field `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Returns how long to wait from `now` on, not negative; nil where the value is malformed.
    static func parse(_ value: String, now: Date) -> Duration? {
        let value = value.trimmingCharacters(in: .whitespaces)
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that doesn't fit is longer than anybody waits.
            return .seconds(min(Int64(value) ?? .max, 1 << 40))
        }
        guard let date = HTTPDate.parse(value) else { return nil }
        return .seconds(max(0, min(date.timeIntervalSince(now), 1e12)))
    }
}

extension ResponseHead {
    /// How long the service asks to wait; nil if it doesn't. A date is counted from the response's `Date`, or from `now`
    /// if there is none.
    package func retryAfter(now: Date) -> Duration? {
        let date = value(forField: "Date").flatMap(HTTPDate.parse) ?? now
        return value(forField: "Retry-After").flatMap { RetryAfter.parse($0, now: date) }
    }
}

extension Duration {
    /// Returns the duration, doubled this many times: at most 20 times, so that nothing overflows, and at most `maximum`.
    package func backedOff(doublings: Int, maximum: Duration) -> Duration {
        min(self * (1 << min(max(doublings, 0), 20)), maximum)
    }
}

/// A date in an HTTP header field (RFC 9110, section 5.6.7).
enum HTTPDate {
    /// Today's format, and the two obsolete ones that still have to be understood: RFC 850's and asctime's.
    private static let formats = [
        "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
    ]

    /// Returns the date; nil where the value has none of the three formats.
    static func parse(_ value: String) -> Date? {
        let value = value.trimmingCharacters(in: .whitespaces)
        // A new formatter each time: calls are rare, and a shared one mustn't be changed while others use it.
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
