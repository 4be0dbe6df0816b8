/// One request on its way to its answer.
final class HTTPExchange {
    let context: RequestContext
    var response: HTTPResponse?

    private let method: HTTPMethod?
    private let version: HTTPVersion
    private let path: String?
    private var request: HTTPRequest?
    private var requestBodyBytes = 0
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

    func complete(_ body: [UInt8]) {
        guard !body.isEmpty else { return }
        requestBodyBytes = body.count
        request?.body = body
        if startNanoseconds != 0 { startNanoseconds = MonotonicClock.nanoseconds() }
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

    /// Tells what became of the request; no status where the client was gone before there was an answer.
    func observe(_ status: HTTPStatus?, responseBytes: Int, _ environment: HTTPServerEnvironment) {
        guard let observe = environment.observe else { return }
        observe(
            RequestObservation(
                method: method, path: path, routeTemplate: context.routeTemplate, status: status,
                duration: .nanoseconds(MonotonicClock.nanoseconds() - startNanoseconds),
                requestBodyBytes: requestBodyBytes, responseBytes: responseBytes,
                requestID: context.requestID, traceParent: context.traceParent,
                remoteAddress: context.remoteAddress, logNotes: context.logNotes))
    }
}
