import EventLoop
import HTTPServer
import Locking

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

/// Counts each client's requests against a limit, by a token bucket: kept as the time at which the bucket will
/// be full again (the generic cell rate algorithm, ITU-T I.371).
///
/// Any thread: all loops of a process count together. Memory is bounded: past so many clients, those not seen
/// for the longest are forgotten, to whom that is no loss.
package final class RateLimiter: Sendable {
    private struct State {
        /// When each client's bucket is full again, in nanoseconds of the monotonic clock.
        var recent: [IPAddress: Int64] = [:]
        /// The clients before those.
        var older: [IPAddress: Int64] = [:]
    }

    private let state = Lock(State())
    private let interval: Int64
    private let tolerance: Int64
    private let capacity: Int

    /// Has counted nothing yet.
    ///
    /// - Parameter capacity: half of the clients that are remembered.
    package init(_ limit: RateLimit, capacity: Int = 32_768) {
        interval = limit.intervalNanoseconds
        tolerance = interval * Int64(limit.burst - 1)
        self.capacity = capacity
    }

    /// Counts a request.
    ///
    /// - Returns: the whole seconds until the client may ask again; nil where it may now.
    func secondsToWait(_ client: IPAddress, nowNanoseconds now: Int64) -> Int? {
        state.withLock { state in
            let full = max(state.recent[client] ?? state.older[client] ?? now, now)
            let wait = full - now - tolerance
            guard wait <= 0 else { return Int((wait + 999_999_999) / 1_000_000_000) }
            if state.recent.count >= capacity, state.recent[client] == nil {
                state.older = state.recent
                state.recent = [:]
            }
            state.recent[client] = full + interval
            return nil
        }
    }

    /// Number of clients that are remembered.
    var clientCount: Int { state.withLock { $0.recent.count + $0.older.count } }
}

/// Refuses requests of a client that asks too often: 429 with `Retry-After` (RFC 6585, section 4).
struct RateLimiting {
    let limiter: RateLimiter
    let identification: ClientIdentification

    /// Counts a request; nil where its client may ask.
    func refusal(of request: HTTPRequest, _ context: RequestContext) -> HTTPError? {
        refusal(of: identification.client(of: request, context))
    }

    /// Counts a request that can't be read; nil where its client may ask, and where a proxy hides who that is.
    func refusal(ofMalformedRequest context: RequestContext) -> HTTPError? {
        identification.directClient(context.remoteAddress).flatMap(refusal)
    }

    private func refusal(of client: IPAddress) -> HTTPError? {
        limiter.secondsToWait(client, nowNanoseconds: MonotonicClock.nanoseconds()).map { seconds in
            HTTPError(
                .tooManyRequests, .tooManyRequests, "This client asks more often than it may.",
                headers: [.retryAfter: String(seconds)])
        }
    }
}
