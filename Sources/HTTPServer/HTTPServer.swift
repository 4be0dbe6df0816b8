import EventLoop

/// An HTTP/1.1 server on one loop.
///
/// Confined to its loop, like the handlers it is given. A process with several loops has a server on each,
/// on sockets that share a port (`BoundSocket.bind`).
public final class HTTPServer {
    /// Number of open connections.
    public var connectionCount: Int { connections.count }
    /// Whether the server is on its way down: it takes no new connection then.
    public private(set) var isDraining = false
    /// The port it listens on; nil before `start` and once it drains.
    public var port: Int? { listener?.port }

    private let configuration: HTTPServerConfiguration
    private let environment: HTTPServerEnvironment
    private var listener: TCPListener?
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private var hardEnd: LoopTimer?
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

    /// Ends gracefully: takes no connection any more, closes idle ones, answers the requests that have begun
    /// with `Connection: close`, and calls `onCompleted` when no connection is left. What isn't answered
    /// within `deadline` is cut off, its request cancelled. May be called again; the first deadline holds.
    public func shutdown(deadline: Duration, onCompleted: @escaping () -> Void) {
        onShutDown.append(onCompleted)
        guard !isDraining else { return completeIfDrained() }
        isDraining = true
        listener?.close()
        listener = nil
        let timer = LoopTimer(loop: environment.loop) { [self] in
            for connection in connections.values { connection.close() }
        }
        timer.start(after: deadline)
        hardEnd = timer
        for connection in connections.values { connection.drain() }
        completeIfDrained()
    }

    /// Ends gracefully, and returns when no connection is left. On the loop.
    public func shutdown(deadline: Duration) async {
        await withCheckedContinuation { continuation in
            shutdown(deadline: deadline) { continuation.resume() }
        }
    }

    private func accept(_ stream: TCPStream) {
        let excess = connections.count - configuration.maximumConnections
        guard excess < Self.maximumRefusals else { return stream.reset() }
        let connection = HTTPConnection(stream: stream, environment: environment) { [self] in remove($0) }
        connections[ObjectIdentifier(connection)] = connection
        connection.start(
            refusal: excess >= 0 ? .overloaded(retryAfterSeconds: configuration.retryAfterSeconds) : nil)
    }

    private func remove(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
        completeIfDrained()
    }

    private func completeIfDrained() {
        guard isDraining, connections.isEmpty else { return }
        hardEnd?.close()
        hardEnd = nil
        let completions = onShutDown
        onShutDown = []
        for completion in completions { completion() }
    }
}
