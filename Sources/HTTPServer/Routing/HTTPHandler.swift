import EventLoop

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
        return try await admission.respond(to: request, context: context).value()
    }
}

/// The handler of an admitted request, and the maximum length of its body.
public struct HTTPAdmission {
    /// Responds to the request once it is complete.
    public var handler: any HTTPHandler {
        get { box.handler }
        set { box = HandlerBox(newValue) }
    }
    /// An existential would be copied with all that it holds.
    private var box: HandlerBox
    /// Maximum length of the body in bytes; 0 if the request may have none.
    public let maximumBodyBytes: Int

    /// Makes an admission.
    public init(_ handler: any HTTPHandler, maximumBodyBytes: Int = 0) {
        box = HandlerBox(handler)
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// Has the handler respond.
    ///
    /// - Throws: what the handler throws.
    func respond(
        to request: HTTPRequest, context: RequestContext
    ) throws -> NowOrLaterResponse {
        try box.handler.respond(to: request, context: context)
    }

    /// Checks the length of a body.
    ///
    /// - Throws: 413.
    func admitBody(ofLength length: Int) throws(HTTPError) {
        guard length > maximumBodyBytes else { return }
        throw maximumBodyBytes == 0 ? .bodyNotTaken : .bodyTooLarge
    }
}

/// A handler that is shared by reference.
private final class HandlerBox {
    let handler: any HTTPHandler

    init(_ handler: any HTTPHandler) {
        self.handler = handler
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

/// A response that is there at once, or has to be waited for, as `NowOrLater` has it.
///
/// A type of its own: through a generic one, each closure would be called by way of two others.
public enum NowOrLaterResponse {
    /// It is there.
    case now(HTTPResponse)
    /// Gets it, or throws why there is none. To be called once, in a task on the server's loop.
    case later(() async throws -> HTTPResponse)

    /// The response, once it is there.
    ///
    /// - Throws: why there is none.
    public func value() async throws -> HTTPResponse {
        switch self {
        case .now(let response): response
        case .later(let get): try await get()
        }
    }
}

/// Responds to requests that an `HTTPDispatcher` has admitted.
///
/// A handler is confined to one loop and needn't be `Sendable`.
public protocol HTTPHandler {
    /// Responds to one request, in the turn in which it arrives; where that has to wait, what waits runs in a task that prefers
    /// the executor of the server's loop, and that is cancelled when the client is gone.
    ///
    /// - Throws: any error; the server's `HTTPErrorResponder` makes the response.
    func respond(
        to request: HTTPRequest, context: RequestContext
    ) throws -> NowOrLaterResponse
}

/// A handler that never waits.
public protocol ImmediateHandler: HTTPHandler {
    /// Responds to one request. On the loop's thread; must not block.
    ///
    /// - Throws: any error; the server's `HTTPErrorResponder` makes the response.
    func response(to request: HTTPRequest, context: RequestContext) throws -> HTTPResponse
}

extension ImmediateHandler {
    /// Responds at once.
    public func respond(
        to request: HTTPRequest, context: RequestContext
    ) throws -> NowOrLaterResponse {
        .now(try response(to: request, context: context))
    }
}

/// A handler whose responses always have to be waited for.
public protocol WaitingHandler: HTTPHandler {
    /// Responds to one request, in a task.
    ///
    /// - Throws: any error; the server's `HTTPErrorResponder` makes the response.
    func response(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse
}

extension WaitingHandler {
    /// Responds later.
    public func respond(
        to request: HTTPRequest, context: RequestContext
    ) throws -> NowOrLaterResponse {
        .later { try await response(to: request, context: context) }
    }
}

/// Always the same response.
public struct FixedResponse: ImmediateHandler {
    private let response: HTTPResponse

    /// Responds to every request with `response`.
    public init(_ response: HTTPResponse) {
        self.response = response
    }

    /// The response.
    public func response(to request: HTTPRequest, context: RequestContext) -> HTTPResponse { response }
}

/// A handler that calls a closure.
public struct ClosureHandler: WaitingHandler {
    /// Responds to one request.
    public typealias Body = (HTTPRequest, RequestContext) async throws -> HTTPResponse

    private let body: Body

    /// Wraps a closure.
    public init(_ body: @escaping Body) {
        self.body = body
    }

    /// Calls the closure.
    public func response(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        try await body(request, context)
    }
}

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
