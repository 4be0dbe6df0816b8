/// Answers requests: a route's handler, a router, or a handler wrapped in middleware.
///
/// Runs on its server's loop, in a task that prefers the loop's executor and that is cancelled when the
/// client is gone. A handler belongs to one loop and needs not be `Sendable`.
public protocol HTTPHandler {
    /// The handler that answers this request; itself, if it doesn't choose among others as a router does.
    ///
    /// Asked before the request's task is made, so that choosing costs no step of a task.
    func handler(for request: HTTPRequest, context: RequestContext) throws(HTTPError) -> any HTTPHandler

    /// Answers one request. What it throws becomes an answer by the server's `HTTPErrorResponder`.
    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse
}

extension HTTPHandler {
    /// Itself.
    public func handler(
        for request: HTTPRequest, context: RequestContext
    ) throws(HTTPError) -> any HTTPHandler { self }
}

/// A handler made of a closure.
public struct ClosureHandler: HTTPHandler {
    /// What answers.
    public typealias Body = (HTTPRequest, RequestContext) async throws -> HTTPResponse

    private let body: Body

    /// Wraps a closure.
    public init(_ body: @escaping Body) {
        self.body = body
    }

    /// Calls the closure.
    public func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        try await body(request, context)
    }
}
