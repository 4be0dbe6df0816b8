import Synchronization

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

/// Bounds the memory that the bodies of all requests take together, whichever loop reads them.
///
/// A body's place is reserved at the request's head, by its `Content-Length`, or by the most that its route takes where
/// it comes in chunks: whoever is admitted can finish, and whoever isn't has cost nothing. Any thread.
public final class BodyBudget: Sendable {
    /// The most bytes that are reserved at a time.
    public let limit: Int
    private let reserved = Atomic(0)

    /// - Parameter limit: in bytes; at least one body of the largest size should fit.
    public init(limit: Int = 32 << 20) {
        self.limit = limit
    }

    /// The bytes that are reserved now.
    public var reservedBytes: Int { reserved.load(ordering: .relaxed) }

    /// Reserves memory; false where it doesn't fit.
    func reserve(_ bytes: Int) -> Bool {
        // Two that come at once may both be refused where one would have fitted: they are at the limit either way.
        guard reserved.add(bytes, ordering: .relaxed).newValue > limit else { return true }
        release(bytes)
        return false
    }

    func release(_ bytes: Int) {
        reserved.subtract(bytes, ordering: .relaxed)
    }
}
