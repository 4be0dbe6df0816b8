/// Something that a request is checked for at its head, before any of its body is kept: a key, a limit.
///
/// Belongs to one loop, like the handlers.
public protocol HTTPRequestCheck {
    /// Lets a request pass.
    ///
    /// - Throws: why it is refused.
    func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError)
}

/// Refuses requests at once while as many are in work as may be: 503 with `Retry-After`.
///
/// Belongs to one loop and counts that loop's requests, from their heads on; put it before the routes that count. A
/// request whose client is gone counts until its handler has returned.
public final class InFlightLimit: HTTPRequestCheck {
    /// Number of requests in work now.
    public internal(set) var count = 0

    private let limit: Int
    private let retryAfterSeconds: Int

    /// - Parameters:
    ///   - limit: most requests at a time.
    ///   - retryAfterSeconds: what a refused client is told to wait.
    public init(_ limit: Int, retryAfterSeconds: Int = 1) {
        self.limit = limit
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// Counts a request until its context is released.
    ///
    /// - Throws: the refusal.
    public func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) {
        guard count < limit else { throw .overloaded(retryAfterSeconds: retryAfterSeconds) }
        context.count(in: self)
    }
}
