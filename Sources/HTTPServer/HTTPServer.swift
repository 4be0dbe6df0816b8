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
    /// The port it listens on; nil before `start` and once it shuts down.
    public var port: Int? { listener?.port }

    private let configuration: HTTPServerConfiguration
    private let environment: HTTPServerEnvironment
    private var listener: TCPListener?
    private var endsKeepAlive = false
    private var isShuttingDown = false
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private var hardEnd: LoopTimer?
    private var cutOffCount = 0
    private var onShutDown: [() -> Void] = []

    /// Connections over the capacity that are told so at a time; further ones are reset.
    private static let maximumRefusals = 128

    /// A server that doesn't listen yet.
    ///
    /// - Parameters:
    ///   - handler: answers all requests: a router, most often.
    ///   - errorResponder: answers errors, those of requests that can't be read included.
    ///   - observe: told of every answer; nil costs nothing.
    public init(
        loop: EventLoop, configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        handler: any HTTPHandler, errorResponder: any HTTPErrorResponder = PlainTextErrorResponder(),
        observe: ((RequestObservation) -> Void)? = nil
    ) {
        self.configuration = configuration
        self.environment = HTTPServerEnvironment(
            loop: loop, configuration: configuration, handler: handler, errorResponder: errorResponder,
            observe: observe)
    }

    /// Listens on a socket that was bound before, and serves until `shutdown`.
    ///
    /// - Throws: `EventLoopError`.
    public func start(on socket: BoundSocket) throws {
        listener = try TCPListener(loop: environment.loop, socket: socket) { [self] in accept($0) }
    }

    /// Binds an address and listens on it; port 0 lets the system choose.
    ///
    /// - Throws: `EventLoopError`, see `BoundSocket.bind`.
    public func start(host: String, port: Int) throws {
        listener = try TCPListener(loop: environment.loop, host: host, port: port) { [self] in accept($0) }
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

    private func accept(_ stream: TCPStream) {
        let excess = connections.count - configuration.maximumConnections
        guard excess < Self.maximumRefusals else { return stream.reset() }
        let connection = HTTPConnection(stream: stream, environment: environment) { [self] in remove($0) }
        connections[ObjectIdentifier(connection)] = connection
        if endsKeepAlive { connection.endKeepAlive() }
        connection.start(
            refusal: excess >= 0 ? .overloaded(retryAfterSeconds: configuration.retryAfterSeconds) : nil)
    }

    private func remove(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
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
