/// Limits the number of requests in flight: further ones are refused with 503 and `Retry-After`.
///
/// Confined to one loop, whose requests it counts, each from when it has arrived whole: one whose body is still to come
/// isn't worked on. A request whose client is gone counts until its handler has returned.
public final class InFlightLimit: HTTPRequestCheck {
    /// Number of requests in flight.
    public internal(set) var count = 0

    private let limit: Int
    private let retryAfterSeconds: Int

    /// - Parameters:
    ///   - limit: maximum number of requests in flight.
    ///   - retryAfterSeconds: the `Retry-After` of refused requests.
    public init(_ limit: Int, retryAfterSeconds: Int = 1) {
        self.limit = limit
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// Counts a request until its context is released.
    ///
    /// - Throws: 503 if as many requests are in flight as may be.
    public func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) {
        try check()
        context.count(in: self)
    }

    /// - Throws: 503 if as many requests are in flight as may be.
    func check() throws(HTTPError) {
        guard count < limit else { throw .overloaded(retryAfterSeconds: retryAfterSeconds) }
    }
}
