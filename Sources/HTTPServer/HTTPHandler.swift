/// Responds to requests that an `HTTPDispatcher` has admitted.
///
/// Runs on its server's loop, in a task that prefers the loop's executor and that is cancelled when the
/// client is gone. A handler belongs to one loop and needs not be `Sendable`.
public protocol HTTPHandler {
    /// Responds to one request. What it throws becomes a response by the server's `HTTPErrorResponder`.
    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse
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
