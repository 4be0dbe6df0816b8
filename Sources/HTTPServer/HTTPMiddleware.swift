/// Something around handlers: it may answer in their place, change the request, or change the answer.
///
/// Belongs to one loop, like the handlers.
public protocol HTTPMiddleware {
    /// Answers a request, most often by what `next` answers.
    func respond(
        to request: HTTPRequest, context: RequestContext, next: any HTTPHandler
    ) async throws -> HTTPResponse
}

extension HTTPHandler {
    /// This handler behind middleware, the first of which sees the request first.
    public func wrapped(in middleware: [any HTTPMiddleware]) -> any HTTPHandler {
        middleware.reversed().reduce(self as any HTTPHandler) { MiddlewareHandler(middleware: $1, next: $0) }
    }
}

private struct MiddlewareHandler: HTTPHandler {
    let middleware: any HTTPMiddleware
    let next: any HTTPHandler

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        try await middleware.respond(to: request, context: context, next: next)
    }
}
