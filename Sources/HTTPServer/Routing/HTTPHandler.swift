/// Decides at a request's head, before any of its body is kept, who responds to it and how long its body may be.
///
/// Belongs to one loop, like the handlers it knows.
public protocol HTTPDispatcher {
    /// Admits a request whose body isn't there yet.
    ///
    /// - Throws: why the request is refused. The response is sent at once, and a body that would follow is never
    ///   kept.
    func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission

    /// Takes note of a request that can't be read.
    ///
    /// - Returns: an error to respond with in place of the request's own; nil where that one is to be told.
    func refusal(ofMalformedRequest context: RequestContext) -> HTTPError?
}

extension HTTPDispatcher {
    /// Nil: the request's own error is told.
    public func refusal(ofMalformedRequest context: RequestContext) -> HTTPError? { nil }

    /// What the handler of a request that is there as a whole responds, if the request is admitted.
    public func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        let admission = try admit(request, context: context)
        try admission.admitBody(ofLength: request.body.count)
        return try await admission.handler.respond(to: request, context: context)
    }
}

/// What was decided at a request's head.
public struct HTTPAdmission {
    /// Responds to the request once it is there as a whole.
    public var handler: any HTTPHandler
    /// The most bytes of a body; 0 where the request may have none.
    public let maximumBodyBytes: Int

    /// An admission from its parts.
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

/// Something that a request is checked for at its head, before any of its body is kept: a key, a limit.
///
/// Belongs to one loop, like the handlers.
public protocol HTTPRequestCheck {
    /// Lets a request pass.
    ///
    /// - Throws: why it is refused.
    func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError)
}

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
