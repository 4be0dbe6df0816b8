/// Decides at a request's head, before its body is read, which handler responds to it and how long its body may be.
///
/// Confined to one loop, like its handlers.
public protocol HTTPDispatcher {
    /// Admits a request whose body isn't read yet.
    ///
    /// - Throws: the refusal. It is sent at once, and a body that follows is discarded.
    func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission

    /// Called for a request whose head can't be read, for example to count it.
    ///
    /// - Returns: an error to respond with instead of the parser's; nil to respond with the parser's.
    func refusal(ofMalformedRequest context: RequestContext) -> HTTPError?
}

extension HTTPDispatcher {
    /// Returns nil.
    public func refusal(ofMalformedRequest context: RequestContext) -> HTTPError? { nil }

    /// Admits a complete request, and calls its handler.
    ///
    /// - Throws: the refusal, or what the handler throws.
    public func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        let admission = try admit(request, context: context)
        try admission.admitBody(ofLength: request.body.count)
        return try await admission.handler.respond(to: request, context: context)
    }
}

/// The handler of an admitted request, and the maximum length of its body.
public struct HTTPAdmission {
    /// Responds to the request once it is complete.
    public var handler: any HTTPHandler
    /// Maximum length of the body in bytes; 0 if the request may have none.
    public let maximumBodyBytes: Int

    /// Makes an admission.
    public init(_ handler: any HTTPHandler, maximumBodyBytes: Int = 0) {
        self.handler = handler
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// Checks the length of a body.
    ///
    /// - Throws: 413.
    func admitBody(ofLength length: Int) throws(HTTPError) {
        guard length > maximumBodyBytes else { return }
        throw maximumBodyBytes == 0 ? .bodyNotTaken : .bodyTooLarge
    }
}

/// Checks a request at its head, before its body is read: its key, or a limit.
///
/// Confined to one loop, like the handlers.
public protocol HTTPRequestCheck {
    /// Checks a request.
    ///
    /// - Throws: the refusal.
    func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError)
}

/// Responds to requests that an `HTTPDispatcher` has admitted.
///
/// Runs in a task that prefers the executor of the server's loop, and that is cancelled when the client is gone. A
/// handler is confined to one loop and needn't be `Sendable`.
public protocol HTTPHandler {
    /// Responds to one request.
    ///
    /// - Throws: any error; the server's `HTTPErrorResponder` makes the response.
    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse
}

/// A handler that calls a closure.
public struct ClosureHandler: HTTPHandler {
    /// Responds to one request.
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
