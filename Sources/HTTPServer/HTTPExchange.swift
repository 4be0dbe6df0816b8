import EventLoop

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
