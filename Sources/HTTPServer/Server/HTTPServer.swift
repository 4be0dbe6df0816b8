import EventLoop

/// An HTTP/1.1 server on one loop.
///
/// Confined to its loop, like the handlers it is given. A process with several loops has a server on each,
/// on sockets that share a port (`BoundSocket.bind`).
public final class HTTPServer {
    /// Number of open connections.
    public var connectionCount: Int { connections.count }
    /// Number of requests that are being answered.
    public var activeRequestCount: Int { connections.values.count { $0.isHandling } }
    /// Number of connections that could not be taken, or were reset because the descriptors ran out.
    public private(set) var acceptFailureCount = 0
    /// Told why a connection could not be taken, once a minute at most.
    public var onAcceptFailure: ((_ reason: String) -> Void)?
    /// The port it listens on; nil before `start` and once it shuts down.
    public var port: Int? { listener?.port }

    private let configuration: HTTPServerConfiguration
    private let environment: HTTPServerEnvironment
    private var listener: TCPListener?
    private var endsKeepAlive = false
    private var isShuttingDown = false
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    /// How many of the connections are only told why they are refused.
    private var refusedCount = 0
    private var hardEnd: LoopTimer?
    private var cutOffCount = 0
    private var acceptFailureToldAt: Duration?
    private var onShutDown: [() -> Void] = []

    /// Connections that are told why they are refused at a time; further ones are reset.
    private static let maximumRefusals = 128

    /// A server that doesn't listen yet.
    ///
    /// - Parameters:
    ///   - dispatcher: decides who responds to a request: a router, most often.
    ///   - errorResponder: answers errors, those of requests that can't be read included.
    ///   - observe: told of every answer; nil costs nothing.
    public init(
        loop: EventLoop, configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        dispatcher: any HTTPDispatcher, errorResponder: any HTTPErrorResponder = PlainTextErrorResponder(),
        observe: ((RequestObservation) -> Void)? = nil
    ) {
        self.configuration = configuration
        self.environment = HTTPServerEnvironment(
            loop: loop, configuration: configuration, dispatcher: dispatcher, errorResponder: errorResponder,
            observe: observe)
    }

    /// Listens on a socket that was bound before, and serves until `shutdown`.
    ///
    /// - Throws: `EventLoopError`.
    public func start(on socket: BoundSocket) throws {
        listener = try TCPListener(
            loop: environment.loop, socket: socket, onFailure: { [self] in acceptFailed("\($0)") },
            onConnection: { [self] in accept($0) })
    }

    /// From now on every answer is the last on its connection (`Connection: close`), and all else goes on: clients
    /// and balancers move elsewhere before `shutdown`, which then finds few connections in use.
    public func endKeepAlive() {
        endsKeepAlive = true
        for connection in connections.values { connection.endKeepAlive() }
    }

    /// Ends gracefully, and calls `onCompleted` when no connection is left.
    ///
    /// Takes the connections that wait to be accepted and none after them; answers, with `Connection: close`, the
    /// requests that have begun, have come in unread, or are the first of a new connection; closes idle
    /// connections in order. What isn't done within `deadline` is cut off, its request cancelled. May be called
    /// again; the first deadline holds.
    public func shutdown(deadline: Duration, onCompleted: @escaping () -> Void) {
        onShutDown.append(onCompleted)
        guard !isShuttingDown else { return completeIfDone() }
        endsKeepAlive = true
        listener?.close()
        listener = nil
        isShuttingDown = true
        let timer = LoopTimer(loop: environment.loop) { [self] in
            cutOffCount = connections.count
            for connection in connections.values { connection.close() }
        }
        timer.start(after: deadline)
        hardEnd = timer
        for connection in connections.values { connection.drain() }
        completeIfDone()
    }

    /// Ends gracefully, and returns when no connection is left: how many had to be cut off. On the loop.
    @discardableResult
    public func shutdown(deadline: Duration) async -> Int {
        await withCheckedContinuation { continuation in
            shutdown(deadline: deadline) { continuation.resume() }
        }
        return cutOffCount
    }

    /// Counts a connection that wasn't taken, and tells why, unless that was told within the last minute.
    private func acceptFailed(_ reason: String) {
        acceptFailureCount += 1
        let now = environment.loop.now
        if let told = acceptFailureToldAt, now - told < .seconds(60) { return }
        acceptFailureToldAt = now
        onAcceptFailure?(reason)
    }

    private func accept(_ stream: TCPStream) {
        if let bound = configuration.maximumDescriptor, stream.descriptor ?? 0 >= bound {
            acceptFailed("all file descriptors that are for clients are in use")
            return stream.reset()
        }
        let refusal = refusal(of: stream)
        guard refusal == nil || refusedCount < Self.maximumRefusals else { return stream.reset() }
        let connection = HTTPConnection(
            stream: stream, environment: environment, isRefused: refusal != nil
        ) { [self] in remove($0) }
        if refusal != nil { refusedCount += 1 }
        connections[ObjectIdentifier(connection)] = connection
        if endsKeepAlive { connection.endKeepAlive() }
        connection.start(refusal: refusal)
    }

    /// Why a new connection isn't served; nil where it is, and is counted.
    private func refusal(of stream: TCPStream) -> HTTPError? {
        guard connections.count - refusedCount < configuration.maximumConnections else {
            return .overloaded(retryAfterSeconds: configuration.retryAfterSeconds)
        }
        guard configuration.connectionsPerClient?.open(from: stream.remoteAddress) != false else {
            return .tooManyConnections(retryAfterSeconds: configuration.retryAfterSeconds)
        }
        return nil
    }

    private func remove(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
        if connection.isRefused {
            refusedCount -= 1
        } else {
            configuration.connectionsPerClient?.close(from: connection.stream.remoteAddress)
        }
        completeIfDone()
    }

    private func completeIfDone() {
        guard isShuttingDown, connections.isEmpty else { return }
        hardEnd?.close()
        hardEnd = nil
        let completions = onShutDown
        onShutDown = []
        for completion in completions { completion() }
    }
}

/// What all connections of a server share; belongs to its loop.
final class HTTPServerEnvironment {
    let loop: EventLoop
    let limits: HTTPLimits
    let timeouts: HTTPTimeouts
    let dispatcher: any HTTPDispatcher
    let errorResponder: any HTTPErrorResponder
    let observe: ((RequestObservation) -> Void)?
    let bodyBudget: BodyBudget
    /// The fields of every answer, as they stand on the wire.
    let commonFields: [UInt8]
    var date = DateHeader()
    var requestIDs = RequestIDs()

    init(
        loop: EventLoop, configuration: HTTPServerConfiguration, dispatcher: any HTTPDispatcher,
        errorResponder: any HTTPErrorResponder, observe: ((RequestObservation) -> Void)?
    ) {
        self.loop = loop
        self.limits = configuration.limits
        self.timeouts = configuration.timeouts
        self.dispatcher = dispatcher
        self.bodyBudget = configuration.bodyBudget
        self.errorResponder = errorResponder
        self.observe = observe
        self.commonFields = ResponseEncoder.encode(configuration.commonFields)
    }

    /// Makes the context of a request whose head was read.
    func makeContext(for head: RequestHead, remoteAddress: String?) -> RequestContext {
        let headers = head.request.headers
        let traceParent = headers.withFirstValue(of: .traceParent) { TraceParent($0) } ?? nil
        return RequestContext(
            head, requestID: requestIDs.id(for: headers),
            // A repeated field is as good as none (W3C Trace Context, section 3.2.2.5).
            traceParent: traceParent != nil && headers.count(of: .traceParent) > 1 ? nil : traceParent,
            remoteAddress: remoteAddress, isObserved: observe != nil)
    }

    /// Makes the context of a request that can't be read.
    func makeContext(remoteAddress: String?) -> RequestContext {
        RequestContext(requestID: requestIDs.next(), remoteAddress: remoteAddress)
    }
}
