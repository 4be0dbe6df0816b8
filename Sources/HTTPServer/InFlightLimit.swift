/// Refuses requests at once while as many are being answered as may be: 503 with `Retry-After`.
///
/// Belongs to one loop and counts that loop's requests; put it around the routes that count. A request whose
/// client is gone counts until its handler has returned.
public final class InFlightLimit: HTTPMiddleware {
    /// Number of requests being answered now.
    public private(set) var count = 0

    private let limit: Int
    private let retryAfterSeconds: Int

    /// - Parameters:
    ///   - limit: most requests at a time.
    ///   - retryAfterSeconds: what a refused client is told to wait.
    public init(_ limit: Int, retryAfterSeconds: Int = 1) {
        self.limit = limit
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// What `next` answers, or the refusal.
    public func respond(
        to request: HTTPRequest, context: RequestContext, next: any HTTPHandler
    ) async throws -> HTTPResponse {
        guard count < limit else { throw HTTPError.overloaded(retryAfterSeconds: retryAfterSeconds) }
        count += 1
        defer { count -= 1 }
        return try await next.respond(to: request, context: context)
    }
}
