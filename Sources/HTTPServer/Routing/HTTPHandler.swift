import EventLoop

/// Decides at a request's head, before its body is read, which handler responds to it and how long its body may be.
///
/// Confined to one loop, like its handlers.
package protocol HTTPDispatcher {
    /// Throws the refusal. It is sent at once, and a body that follows is discarded.
    func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission

    /// Called for a request whose head can't be read, for example to count it. Returns an error to respond with instead of the
    /// parser's.
    func refusal(ofMalformedRequest context: RequestContext) -> HTTPError?
}

extension HTTPDispatcher {
    package func refusal(ofMalformedRequest context: RequestContext) -> HTTPError? { nil }

    /// For a request that is complete.
    package func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        let admission = try admit(request, context: context)
        try admission.admitBody(ofLength: request.body.count)
        return try await admission.respond(to: request, context: context).value()
    }
}

/// The handler of an admitted request, and the maximum length of its body.
package struct HTTPAdmission {
    package var handler: any HTTPHandler {
        get { box.handler }
        set { box = HandlerBox(newValue) }
    }
    /// An existential would be copied with all that it holds.
    private var box: HandlerBox
    /// In bytes; 0 if the request may have no body.
    package let maximumBodyBytes: Int

    package init(_ handler: any HTTPHandler, maximumBodyBytes: Int = 0) {
        box = HandlerBox(handler)
        self.maximumBodyBytes = maximumBodyBytes
    }

    func respond(
        to request: HTTPRequest, context: RequestContext
    ) throws -> NowOrLaterResponse {
        try box.handler.respond(to: request, context: context)
    }

    /// Throws 413.
    func admitBody(ofLength length: Int) throws(HTTPError) {
        guard length > maximumBodyBytes else { return }
        throw maximumBodyBytes == 0 ? .bodyNotTaken : .bodyTooLarge
    }
}

private final class HandlerBox {
    let handler: any HTTPHandler

    init(_ handler: any HTTPHandler) {
        self.handler = handler
    }
}

/// Checks a request at its head, before its body is read: its key, or a limit. Confined to one loop, like the handlers.
package protocol HTTPRequestCheck {
    /// Throws the refusal.
    func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError)
}

/// A response that is there at once, or has to be waited for, as `NowOrLater` has it.
///
/// A type of its own: through a generic one, each closure would be called by way of two others.
package enum NowOrLaterResponse {
    case now(HTTPResponse)
    /// Gets it, or throws why there is none. To be called once, in a task on the server's loop.
    case later(() async throws -> HTTPResponse)

    /// Throws why there is none.
    package func value() async throws -> HTTPResponse {
        switch self {
        case .now(let response): response
        case .later(let get): try await get()
        }
    }
}

/// Responds to requests that an `HTTPDispatcher` has admitted.
///
/// A handler is confined to one loop and needn't be `Sendable`.
package protocol HTTPHandler {
    /// Responds in the turn in which the request arrives; where that has to wait, in a task that prefers the executor of the
    /// server's loop, and that is cancelled when the client is gone. The server's `HTTPErrorResponder` responds to what is thrown.
    func respond(
        to request: HTTPRequest, context: RequestContext
    ) throws -> NowOrLaterResponse
}

package protocol ImmediateHandler: HTTPHandler {
    /// On the loop's thread; must not block.
    func response(to request: HTTPRequest, context: RequestContext) throws -> HTTPResponse
}

extension ImmediateHandler {
    package func respond(
        to request: HTTPRequest, context: RequestContext
    ) throws -> NowOrLaterResponse {
        .now(try response(to: request, context: context))
    }
}

package protocol WaitingHandler: HTTPHandler {
    func response(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse
}

extension WaitingHandler {
    package func respond(
        to request: HTTPRequest, context: RequestContext
    ) throws -> NowOrLaterResponse {
        .later { try await response(to: request, context: context) }
    }
}

package struct FixedResponse: ImmediateHandler {
    private let response: HTTPResponse

    package init(_ response: HTTPResponse) {
        self.response = response
    }

    package func response(to request: HTTPRequest, context: RequestContext) -> HTTPResponse { response }
}

package struct ClosureHandler: WaitingHandler {
    package typealias Body = (HTTPRequest, RequestContext) async throws -> HTTPResponse

    private let body: Body

    package init(_ body: @escaping Body) {
        self.body = body
    }

    package func response(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        try await body(request, context)
    }
}

/// Limits the number of requests in flight: further ones are refused with 503 and `Retry-After`.
///
/// Confined to one loop, whose requests it counts, each from when it has arrived whole: one whose body is still to come
/// isn't worked on. A request whose client is gone counts until its handler has returned.
package final class InFlightLimit: HTTPRequestCheck {
    package internal(set) var count = 0

    private let limit: Int
    private let retryAfterSeconds: Int

    package init(_ limit: Int, retryAfterSeconds: Int = 1) {
        self.limit = limit
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// Counts a request until its context is released.
    package func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) {
        try check()
        context.count(in: self)
    }

    func check() throws(HTTPError) {
        guard count < limit else { throw .overloaded(retryAfterSeconds: retryAfterSeconds) }
    }
}
