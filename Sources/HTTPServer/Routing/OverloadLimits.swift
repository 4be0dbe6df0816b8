import Synchronization

/// Limits the number of requests in flight: further ones are refused with 503 and `Retry-After`.
///
/// Confined to one loop, whose requests it counts, from their heads on. A request whose client is gone counts until its
/// handler has returned.
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
        guard count < limit else { throw .overloaded(retryAfterSeconds: retryAfterSeconds) }
        context.count(in: self)
    }
}

/// Limits the memory that the bodies of all requests take together, on all loops.
///
/// A body's memory is reserved at the request's head: its `Content-Length`, or the maximum of its route if it is
/// chunked. So an admitted request can always finish, and a refused one has used no memory. Any thread.
public final class BodyBudget: Sendable {
    /// Maximum number of reserved bytes.
    public let limit: Int
    private let reserved = Atomic(0)

    /// - Parameter limit: in bytes; at least one body of maximum length should fit.
    public init(limit: Int = 32 << 20) {
        self.limit = limit
    }

    /// Number of bytes that are reserved now.
    public var reservedBytes: Int { reserved.load(ordering: .relaxed) }

    /// Reserves memory; false if there isn't enough left.
    func reserve(_ bytes: Int) -> Bool {
        // Two threads may both be refused when one would fit. That is accepted: the budget is nearly used up anyway.
        guard reserved.add(bytes, ordering: .relaxed).newValue > limit else { return true }
        release(bytes)
        return false
    }

    func release(_ bytes: Int) {
        reserved.subtract(bytes, ordering: .relaxed)
    }
}
