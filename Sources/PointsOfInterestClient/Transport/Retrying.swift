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

/// Sends a request again after failures that may pass.
struct RetryingTransport: Transport {
    let base: any Transport
    let policy: RetryPolicy
    let clock: any Clock<Duration>
    /// A number of 0…1, another each time.
    let jitter: @Sendable () -> Double
    let now: @Sendable () -> Date

    func send(_ request: URLRequest) async throws(RequestError) -> Answer {
        var attempt = 1
        while true {
            let outcome = await outcome(of: request)
            guard Self.isSafe(request),
                let pause = policy.pause(after: outcome, attempt: attempt, jitter: jitter(), now: now())
            else { return try outcome.get() }
            do {
                try await clock.sleep(for: pause)
            } catch {
                throw .cancelled
            }
            attempt += 1
        }
    }

    private func outcome(of request: URLRequest) async -> Result<Answer, RequestError> {
        do throws(RequestError) {
            return .success(try await base.send(request))
        } catch {
            return .failure(error)
        }
    }

    /// Whether sending it twice does no harm (RFC 9110, section 9.2.1).
    private static func isSafe(_ request: URLRequest) -> Bool {
        ["GET", "HEAD", "OPTIONS"].contains(request.httpMethod ?? "GET")
    }
}

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
