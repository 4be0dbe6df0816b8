import EventLoop

/// What is known of a request besides what the client sent, and what the router finds out.
///
/// One per request, shared by middleware and handler; belongs to the loop.
public final class RequestContext {
    /// The id under which the request is logged and which its answer echoes.
    public let requestID: String
    /// The request's place in a distributed trace, if the client named one (W3C Trace Context).
    public let traceParent: TraceParent?
    /// The peer's numeric address; a proxy's, where there is one in front.
    public let remoteAddress: String?
    /// The template of the route that answers, `/locations/{id}`; nil before the router and for no route.
    public internal(set) var routeTemplate: String?

    /// What a handler wants the request's observation to have besides, for logs.
    public var logNotes: [(name: StaticString, value: String)] = []
    /// Fields that the response gets, whatever it is: an error and a refusal at the head included.
    public var responseFields = HTTPHeaders()

    var pathParameters: [(name: String, value: String)] = []

    /// What the request holds until it is released.
    private var inFlightLimit: InFlightLimit?
    private var bodyBudget: BodyBudget?
    private var bodyBytes = 0

    /// A context; the server makes them, tests may.
    public init(requestID: String, traceParent: TraceParent? = nil, remoteAddress: String? = nil) {
        self.requestID = requestID
        self.traceParent = traceParent
        self.remoteAddress = remoteAddress
    }

    deinit {
        release()
    }

    /// Counts the request as one in work.
    func count(in limit: InFlightLimit) {
        inFlightLimit?.count -= 1
        limit.count += 1
        inFlightLimit = limit
    }

    /// Reserves the memory of the request's body.
    ///
    /// - Throws: 503 where the server has as many bytes of bodies as it may.
    func reserveBody(_ bytes: Int, in budget: BodyBudget) throws(HTTPError) {
        guard budget.reserve(bytes) else { throw .overloaded(retryAfterSeconds: 1) }
        bodyBudget = budget
        bodyBytes += bytes
    }

    /// Gives back what was reserved for the body beyond its length.
    func shrinkBodyReservation(to bytes: Int) {
        guard bytes < bodyBytes else { return }
        bodyBudget?.release(bodyBytes - bytes)
        bodyBytes = bytes
    }

    /// Reserves memory for what a handler makes of the request's body, by decompressing it for instance.
    ///
    /// - Throws: 503 where the server has as many bytes of bodies as it may.
    public func reserveBody(_ bytes: Int) throws(HTTPError) {
        if let bodyBudget { try reserveBody(bytes, in: bodyBudget) }
    }

    /// Lets go of what the request holds: its handler has returned, or never will. A second call does nothing.
    func release() {
        inFlightLimit?.count -= 1
        inFlightLimit = nil
        bodyBudget?.release(bodyBytes)
        bodyBudget = nil
        bodyBytes = 0
    }

    /// The value of a parameter of the route's template, percent-decoded; nil where the template has none
    /// of this name.
    public func pathParameter(_ name: String) -> String? {
        pathParameters.first { $0.name == name }?.value
    }
}

/// One request on its way to its answer.
final class HTTPExchange {
    let context: RequestContext
    private(set) var response: HTTPResponse?

    private let method: HTTPMethod?
    private let version: HTTPVersion
    private let path: String?
    private var request: HTTPRequest?
    private var requestBodyBytes = 0
    private var handler: (any HTTPHandler)?
    private var refusal: HTTPError?
    private var startNanoseconds: Int64 = 0

    /// The exchange of a request whose head was read.
    init(_ head: RequestHead, connection: HTTPConnection) {
        context = connection.environment.makeContext(
            for: head.request.headers, remoteAddress: connection.stream.remoteAddress)
        method = head.request.method
        version = head.version
        // Nobody pays for what nobody looks at.
        path = connection.environment.observe == nil ? nil : head.request.path
        request = head.request
        if connection.environment.observe != nil { startNanoseconds = MonotonicClock.nanoseconds() }
    }

    /// The exchange of a request that can't be read.
    init(connection: HTTPConnection) {
        context = connection.environment.makeContext(
            for: nil, remoteAddress: connection.stream.remoteAddress)
        method = nil
        version = .http11
        path = nil
        startNanoseconds = MonotonicClock.nanoseconds()
    }

    /// Has the request admitted or refused; answers how many bytes of a body it may have.
    ///
    /// - Throws: the refusal of a request whose body is still to come. That of any other is the response to it.
    func admit(_ head: RequestHead, by environment: HTTPServerEnvironment) throws(HTTPError) -> Int {
        do throws(HTTPError) {
            let admission = try environment.dispatcher.admit(head.request, context: context)
            switch head.framing {
            case .none: break
            case .length(let length):
                try admission.admitBody(ofLength: length)
                try context.reserveBody(length, in: environment.bodyBudget)
            case .chunked:
                try admission.admitBody(ofLength: 1)
                try context.reserveBody(admission.maximumBodyBytes, in: environment.bodyBudget)
            }
            handler = admission.handler
            return admission.maximumBodyBytes
        } catch {
            guard head.framing == .none else { throw error }
            refusal = error
            return 0
        }
    }

    /// The handler that the request was admitted to.
    ///
    /// - Throws: the refusal of a request without a body.
    func admittedHandler() throws(HTTPError) -> any HTTPHandler {
        if let refusal { throw refusal }
        guard let handler else { throw .internalError }
        return handler
    }

    func complete(_ body: [UInt8]) {
        context.shrinkBodyReservation(to: body.count)
        guard !body.isEmpty else { return }
        requestBodyBytes = body.count
        request?.body = body
        if startNanoseconds != 0 { startNanoseconds = MonotonicClock.nanoseconds() }
    }

    /// Sets the response, with the fields that any response to this request has.
    func setResponse(_ response: HTTPResponse) {
        self.response = response
        if !context.responseFields.isEmpty {
            self.response?.headers.add(contentsOf: context.responseFields)
        }
    }

    /// The request, once: the handler owns it from then on.
    func takeRequest() -> HTTPRequest? {
        defer { request = nil }
        return request
    }

    func framing(keepsAlive: Bool) -> ResponseEncoder.Framing {
        ResponseEncoder.Framing(
            isHead: method == .head, keepsAlive: keepsAlive, version: version, requestID: context.requestID)
    }

    /// Tells what became of the request.
    ///
    /// - Parameters:
    ///   - status: the response's; nil where the client was gone before there was one.
    ///   - interruption: why the request never came in whole.
    func observe(
        _ status: HTTPStatus?, responseBytes: Int, interruption: RequestObservation.Interruption? = nil,
        _ environment: HTTPServerEnvironment
    ) {
        guard let observe = environment.observe else { return }
        observe(
            RequestObservation(
                method: method, path: path, routeTemplate: context.routeTemplate, status: status,
                interruption: interruption,
                duration: .nanoseconds(MonotonicClock.nanoseconds() - startNanoseconds),
                requestBodyBytes: requestBodyBytes, responseBytes: responseBytes,
                requestID: context.requestID, traceParent: context.traceParent,
                remoteAddress: context.remoteAddress, logNotes: context.logNotes))
    }
}

/// What happened to one request, for logs and metrics; every answer of the server makes one, those to
/// requests that could not be read included.
public struct RequestObservation: Sendable {
    /// Why a request never came in whole.
    public enum Interruption: String, Sendable {
        /// Its time was over: 408.
        case timeout
        /// The connection ended inside it.
        case disconnected
    }

    /// The method; nil where no request could be read.
    public let method: HTTPMethod?
    /// The path as it was sent, without the query; nil where no request could be read. It may hold anything
    /// a client can type, so it is no label for metrics: `routeTemplate` is.
    public let path: String?
    /// The template of the route that answered; nil where there was none.
    public let routeTemplate: String?
    /// The answer's status; nil where the client was gone before there was an answer.
    public let status: HTTPStatus?
    /// Why the request never came in whole; nil where it did, and where it could not be read.
    public var interruption: Interruption?
    /// From the request's last byte to the answer's hand-over to the system.
    public let duration: Duration
    /// Length of the request's body in bytes.
    public let requestBodyBytes: Int
    /// Length of the answer in bytes, head included.
    public let responseBytes: Int
    /// The request's id.
    public let requestID: String
    /// The request's place in a distributed trace.
    public let traceParent: TraceParent?
    /// The peer's numeric address.
    public let remoteAddress: String?
    /// What the handler has noted of the request.
    public var logNotes: [(name: StaticString, value: String)] = []
}
