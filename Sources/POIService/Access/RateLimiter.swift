import EventLoop
import HTTPServer
import Locking
import Program

package struct RateLimit: Hashable, Sendable {
    package let count: Int
    package let periodSeconds: Int
    /// The number of requests that may come at once after a pause.
    package var burst: Int

    init(count: Int, periodSeconds: Int) {
        (self.count, self.periodSeconds, burst) = (count, periodSeconds, count)
    }

    /// Parses `20/s`, `600/m` or `5000/h`; nil for anything else. The burst is as many as in a period.
    package init?(settingText text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), (1...1_000_000).contains(count),
            let periodSeconds = ["s": 1, "m": 60, "h": 3600][String(parts[1])]
        else { return nil }
        self.count = count
        self.periodSeconds = periodSeconds
        burst = count
    }

    init(orRejecting text: String) throws(SettingRejection) {
        guard let limit = RateLimit(settingText: text) else {
            throw SettingRejection(expected: "1 to 1000000 requests a second, minute or hour, such as 20/s")
        }
        self = limit
    }

    /// The time after which one more request is allowed, in nanoseconds, above 0.
    var intervalNanoseconds: Int64 { Int64(periodSeconds) * 1_000_000_000 / Int64(count) }
}

/// Limits each client's requests by a token bucket, stored as the time at which the bucket will be full again (the generic
/// cell rate algorithm, ITU-T I.371). Any thread: all loops share it. Memory is bounded: when there are too many clients,
/// those that were not seen for the longest time are forgotten. Their buckets are usually full by then.
package final class RateLimiter: Sendable {
    private struct State {
        /// When each client's bucket is full again, in nanoseconds of the monotonic clock.
        var recent: [IPAddress: Int64] = [:]
        /// The same for clients that were seen before `recent` was begun. A client may be in both.
        var older: [IPAddress: Int64] = [:]
    }

    private let state = Lock(State())
    private let interval: Int64
    private let tolerance: Int64
    private let capacity: Int

    /// - Parameter capacity: half of the maximum number of clients that are remembered.
    package init(_ limit: RateLimit, capacity: Int = 32_768) {
        interval = limit.intervalNanoseconds
        tolerance = interval * Int64(limit.burst - 1)
        self.capacity = capacity
    }

    /// - Parameter counts: whether this one counts, where it is allowed.
    /// - Returns: the seconds until the client may send a request, rounded up; nil if this one is allowed.
    func secondsToWait(_ client: IPAddress, nowNanoseconds now: Int64, counts: Bool = true) -> Int? {
        state.withLock { state in
            let full = max(state.recent[client] ?? state.older[client] ?? now, now)
            let wait = full - now - tolerance
            guard wait <= 0 else { return Int((wait + 999_999_999) / 1_000_000_000) }
            guard counts else { return nil }
            if state.recent.count >= capacity, state.recent[client] == nil {
                state.older = state.recent
                state.recent = [:]
            }
            state.recent[client] = full + interval
            return nil
        }
    }

    /// The number of clients that are remembered; a client that is in both dictionaries counts twice.
    var clientCount: Int { state.withLock { $0.recent.count + $0.older.count } }
}

/// Refuses requests beyond the limit: 429 with `Retry-After` (RFC 6585, section 4).
struct RateLimiting: Sendable {
    let limiter: RateLimiter
    let identification: ClientIdentification

    /// - Parameter counts: whether the request counts, where it is allowed.
    func refusal(of request: HTTPRequest, _ context: RequestContext, counts: Bool = true) -> HTTPError? {
        refusal(of: identification.client(of: request, context), counts: counts)
    }

    /// Counts a request that can't be parsed; nil if it is allowed, and if it came through a trusted proxy, since then
    /// its client isn't known.
    func refusal(ofMalformedRequest context: RequestContext) -> HTTPError? {
        identification.directClient(context.remoteAddress).flatMap { refusal(of: $0, counts: true) }
    }

    private func refusal(of client: IPAddress, counts: Bool) -> HTTPError? {
        limiter.secondsToWait(client, nowNanoseconds: MonotonicClock.nanoseconds(), counts: counts).map {
            seconds in
            HTTPError(
                .tooManyRequests, .tooManyRequests, "This client has sent too many requests.",
                headers: [.retryAfter: String(seconds)])
        }
    }
}
