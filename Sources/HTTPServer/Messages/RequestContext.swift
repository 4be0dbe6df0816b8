import EventLoop

/// One request on its way through the server: what is known of it besides what the client sent, what the server holds
/// for it, and its response.
///
/// There is one per request, shared by the connection, the router and the handler. Confined to the server's loop.
public final class RequestContext {
    /// The id that the request is logged with; its response repeats it.
    public let requestID: String
    /// The trace that the request is part of, if the client named one (W3C Trace Context).
    public let traceParent: TraceParent?
    /// The peer's numeric address; a proxy's, if there is one in front of the server.
    public let remoteAddress: String?
    /// The template of the request's route, for example `/locations/{id}`; nil before routing and without a route.
    public internal(set) var routeTemplate: String?

    /// Notes of the handler for the log; part of the request's observation.
    public var logNotes: [(name: StaticString, value: String)] = []
    /// Fields that are added to the response, whatever it is: also to errors and to refusals at the head.
    public var responseFields = HTTPHeaders()

    var pathParameters: [(name: String, value: String)] = []
    /// The response; nil until there is one.
    private(set) var response: HTTPResponse?

    // What was read of the request.
    private let method: HTTPMethod?
    private let version: HTTPVersion
    private let path: String?
    private var request: HTTPRequest?
    private var requestBodyBytes = 0
    private var startNanoseconds: Int64 = 0

    // What was decided at its head.
    private var handler: (any HTTPHandler)?
    private var refusal: HTTPError?

    // What it holds until `release()`.
    private var inFlightLimit: InFlightLimit?
    private var bodyBudget: BodyBudget?
    private var reservedBodyBytes = 0

    /// Makes a context without a request, for tests and for requests whose head can't be read.
    public init(requestID: String, traceParent: TraceParent? = nil, remoteAddress: String? = nil) {
        self.requestID = requestID
        self.traceParent = traceParent
        self.remoteAddress = remoteAddress
        method = nil
        version = .http11
        path = nil
        startNanoseconds = MonotonicClock.nanoseconds()
    }

    /// Makes the context of a request whose head was read.
    ///
    /// - Parameter isObserved: whether `observation` will be asked for; otherwise it isn't prepared, to save its cost.
    init(
        _ head: RequestHead, requestID: String, traceParent: TraceParent?, remoteAddress: String?,
        isObserved: Bool
    ) {
        self.requestID = requestID
        self.traceParent = traceParent
        self.remoteAddress = remoteAddress
        method = head.request.method
        version = head.version
        path = isObserved ? head.request.path : nil
        request = head.request
        if isObserved { startNanoseconds = MonotonicClock.nanoseconds() }
    }

    deinit {
        release()
    }

    /// The value of a parameter of the route's template, percent-decoded; nil if the template has no such parameter.
    public func pathParameter(_ name: String) -> String? {
        pathParameters.first { $0.name == name }?.value
    }
}

// MARK: - The request's way

extension RequestContext {
    /// Has the dispatcher admit or refuse the request, and reserves its body's memory.
    ///
    /// - Returns: maximum length of the body in bytes.
    /// - Throws: the refusal, if a body is still to come. Any other refusal is thrown by `admittedHandler()`.
    func admit(_ head: RequestHead, by environment: HTTPServerEnvironment) throws(HTTPError) -> Int {
        do throws(HTTPError) {
            let admission = try environment.dispatcher.admit(head.request, context: self)
            switch head.framing {
            case .none: break
            case .length(let length):
                try admission.admitBody(ofLength: length)
                try reserveBody(length, in: environment.bodyBudget)
            case .chunked:
                try admission.admitBody(ofLength: 1)
                try reserveBody(admission.maximumBodyBytes, in: environment.bodyBudget)
            }
            handler = admission.handler
            return admission.maximumBodyBytes
        } catch {
            guard head.framing == .none else { throw error }
            refusal = error
            return 0
        }
    }

    /// Adds the body, which is complete, to the request.
    func complete(_ body: [UInt8]) {
        shrinkBodyReservation(to: body.count)
        guard !body.isEmpty else { return }
        requestBodyBytes = body.count
        request?.body = body
        if startNanoseconds != 0 { startNanoseconds = MonotonicClock.nanoseconds() }
    }

    /// Hands over the request, once: the handler owns it from then on.
    func takeRequest() -> HTTPRequest? {
        defer { request = nil }
        return request
    }

    /// The handler that the request was admitted to.
    ///
    /// - Throws: the refusal of a request without a body.
    func admittedHandler() throws(HTTPError) -> any HTTPHandler {
        if let refusal { throw refusal }
        guard let handler else { throw .internalError }
        return handler
    }

    /// Sets the response, and adds `responseFields` to it.
    func setResponse(_ response: HTTPResponse) {
        self.response = response
        if !responseFields.isEmpty { self.response?.headers.add(contentsOf: responseFields) }
    }

    func framing(keepsAlive: Bool) -> ResponseEncoder.Framing {
        ResponseEncoder.Framing(
            isHead: method == .head, keepsAlive: keepsAlive, version: version, requestID: requestID)
    }

    /// Reports what happened to the request.
    ///
    /// - Parameters:
    ///   - status: the response's; nil if the client was gone before there was a response.
    ///   - interruption: why the request was never complete.
    func observe(
        _ status: HTTPStatus?, responseBytes: Int, interruption: RequestObservation.Interruption? = nil,
        _ environment: HTTPServerEnvironment
    ) {
        guard let observe = environment.observe else { return }
        observe(
            RequestObservation(
                method: method, path: path, routeTemplate: routeTemplate, status: status,
                interruption: interruption,
                duration: .nanoseconds(MonotonicClock.nanoseconds() - startNanoseconds),
                requestBodyBytes: requestBodyBytes, responseBytes: responseBytes, requestID: requestID,
                traceParent: traceParent, remoteAddress: remoteAddress, logNotes: logNotes))
    }
}

// MARK: - What the request holds

extension RequestContext {
    /// Reserves memory for what a handler makes of the body, for example by decompressing it.
    ///
    /// - Throws: 503 if the bodies of all requests would take more memory than they may.
    public func reserveBody(_ bytes: Int) throws(HTTPError) {
        if let bodyBudget { try reserveBody(bytes, in: bodyBudget) }
    }

    private func reserveBody(_ bytes: Int, in budget: BodyBudget) throws(HTTPError) {
        guard budget.reserve(bytes) else { throw .overloaded(retryAfterSeconds: 1) }
        bodyBudget = budget
        reservedBodyBytes += bytes
    }

    /// Gives back what was reserved beyond the body's length.
    private func shrinkBodyReservation(to bytes: Int) {
        guard bytes < reservedBodyBytes else { return }
        bodyBudget?.release(reservedBodyBytes - bytes)
        reservedBodyBytes = bytes
    }

    /// Counts the request in `limit` until `release()`.
    func count(in limit: InFlightLimit) {
        inFlightLimit?.count -= 1
        limit.count += 1
        inFlightLimit = limit
    }

    /// Gives back what the request holds, once its handler has returned or will never be called. A second call does
    /// nothing.
    func release() {
        inFlightLimit?.count -= 1
        inFlightLimit = nil
        bodyBudget?.release(reservedBodyBytes)
        bodyBudget = nil
        reservedBodyBytes = 0
    }
}

/// What happened to one request, for logs and metrics.
///
/// Every response of the server makes one, also the responses to requests that can't be read.
public struct RequestObservation: Sendable {
    /// Why a request was never complete.
    public enum Interruption: String, Sendable {
        /// It took too long: 408.
        case timeout
        /// The connection ended inside it.
        case disconnected
    }

    /// The method; nil if no request could be read.
    public let method: HTTPMethod?
    /// The path as it was sent, without the query; nil if no request could be read. It holds whatever the client
    /// sent, so metrics are labelled with `routeTemplate` instead.
    public let path: String?
    /// The template of the request's route; nil if it has none.
    public let routeTemplate: String?
    /// The response's status; nil if the client was gone before there was a response.
    public let status: HTTPStatus?
    /// Why the request was never complete; nil if it was, or if it couldn't be read.
    public var interruption: Interruption?
    /// From the request's last byte until the system has the response.
    public let duration: Duration
    /// Length of the request's body in bytes.
    public let requestBodyBytes: Int
    /// Length of the response in bytes, head included.
    public let responseBytes: Int
    /// The request's id.
    public let requestID: String
    /// The trace that the request is part of.
    public let traceParent: TraceParent?
    /// The peer's numeric address.
    public let remoteAddress: String?
    /// Notes of the handler.
    public var logNotes: [(name: StaticString, value: String)] = []
}
