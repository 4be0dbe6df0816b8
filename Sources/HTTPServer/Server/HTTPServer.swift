import EventLoop

/// An HTTP/1.1 server on one loop.
///
/// Confined to its loop, like the handlers it is given. A process with several loops has a server on each of them, on
/// sockets that share a port (`BoundSocket.bind`).
package final class HTTPServer {
    package var connectionCount: Int { connections.count }
    package var activeRequestCount: Int { connections.values.count { $0.isHandling } }
    /// Number of connections that couldn't be accepted, or were reset because descriptors ran out.
    package private(set) var acceptFailureCount = 0
    /// At most once a minute.
    package var onAcceptFailure: ((_ reason: String) -> Void)?
    /// Nil before `start` and after the shutdown has begun.
    package var port: Int? { listener?.port }

    private let configuration: HTTPServerConfiguration
    private let environment: HTTPServerEnvironment
    private var listener: TCPListener?
    private var endsKeepAlive = false
    private var isShuttingDown = false
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    /// Number of the connections that are refused: each gets an error response and is closed.
    private var refusedCount = 0
    private var shutdownTimer: LoopTimer?
    private var cutOffCount = 0
    private var acceptFailureReportedAt: Duration?
    private var onShutDown: [() -> Void] = []

    /// Maximum number of refused connections that get an error response at a time; further ones are reset.
    private static let maximumRefusals = 128

    /// - Parameters:
    ///   - errorResponder: also for the errors of requests that can't be read.
    ///   - observe: called after every response. Without it nothing is measured.
    package init(
        loop: EventLoop, configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        dispatcher: any HTTPDispatcher, errorResponder: any HTTPErrorResponder = PlainTextErrorResponder(),
        observe: ((RequestObservation) -> Void)? = nil
    ) {
        self.configuration = configuration
        self.environment = HTTPServerEnvironment(
            loop: loop, configuration: configuration, dispatcher: dispatcher, errorResponder: errorResponder,
            observe: observe)
    }

    /// Serves until `shutdown`.
    package func start(on socket: BoundSocket) throws {
        listener = try TCPListener(
            loop: environment.loop, socket: socket, onFailure: { [self] in acceptFailed("\($0)") },
            onConnection: { [self] in accept($0) })
    }

    /// Makes every further response the last of its connection (`Connection: close`).
    ///
    /// The server still accepts connections and serves requests. Clients and balancers move to other servers, so that
    /// `shutdown` finds few connections in use.
    package func endKeepAlive() {
        endsKeepAlive = true
        for connection in connections.values { connection.endKeepAlive() }
    }

    /// Shuts down gracefully, and calls `onCompleted` when no connection is left.
    ///
    /// Accepts the connections that the system has queued, and no more. Responds, with `Connection: close`, to requests
    /// that have begun, to those that were received but not read, and to the first request of a new connection. Closes
    /// idle connections in order. After `timeout` all connections that are left are closed and their requests
    /// cancelled. May be called again; the first timeout counts.
    package func shutdown(timeout: Duration, onCompleted: @escaping () -> Void) {
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
        timer.start(after: timeout)
        shutdownTimer = timer
        for connection in connections.values { connection.drain() }
        completeIfDone()
    }

    /// Returns the number of connections that were cut off at the end of the timeout.
    @discardableResult
    package func shutdown(timeout: Duration) async -> Int {
        await withCheckedContinuation { continuation in
            shutdown(timeout: timeout) { continuation.resume() }
        }
        return cutOffCount
    }

    /// Reports the reason at most once a minute.
    private func acceptFailed(_ reason: String) {
        acceptFailureCount += 1
        let now = environment.loop.now
        if let last = acceptFailureReportedAt, now - last < .seconds(60) { return }
        acceptFailureReportedAt = now
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

    /// The reason to refuse a new connection. Counts the connection for its client and returns nil if there is none.
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
        shutdownTimer?.close()
        shutdownTimer = nil
        let completions = onShutDown
        onShutDown = []
        for completion in completions { completion() }
    }
}

package struct HTTPServerConfiguration: Sendable {
    package var limits: HTTPLimits
    package var timeouts: HTTPTimeouts
    /// Maximum number of connections at a time. Further ones get a 503 and are closed; their request isn't read.
    package var maximumConnections: Int
    /// A connection whose descriptor is this number or a higher one is reset: the process needs those descriptors for
    /// itself. Nil for no such limit.
    package var maximumDescriptor: Int?
    package var connectionsPerClient: ClientConnections?
    /// Servers may share it.
    package var memory: ClientMemory
    package var clients: ClientIdentification
    /// Of refused connections.
    package var retryAfterSeconds: Int
    /// Fields that every response has, also the responses to requests that can't be read.
    package var commonFields: HTTPHeaders

    package init(
        limits: HTTPLimits = HTTPLimits(), timeouts: HTTPTimeouts = HTTPTimeouts(),
        maximumConnections: Int = 10_000, connectionsPerClient: ClientConnections? = nil,
        memory: ClientMemory = ClientMemory(), clients: ClientIdentification = ClientIdentification(),
        retryAfterSeconds: Int = 1,
        commonFields: HTTPHeaders = HTTPHeaders()
    ) {
        self.limits = limits
        self.timeouts = timeouts
        self.maximumConnections = maximumConnections
        self.connectionsPerClient = connectionsPerClient
        self.memory = memory
        self.clients = clients
        self.retryAfterSeconds = retryAfterSeconds
        self.commonFields = commonFields
    }
}

/// A request that exceeds one of these gets an error response, and its connection is closed.
package struct HTTPLimits: Sendable {
    /// Bytes of the request line, without its CRLF; otherwise 414.
    package var requestLineBytes: Int
    /// Bytes of the header block, with line ends and without the request line; otherwise 431. The trailers of a chunked
    /// body have the same limit.
    package var headerBlockBytes: Int
    /// Bytes of the body, without chunk framing; otherwise 413.
    package var bodyBytes: Int
    /// Bytes of the first line of a chunk, with its extensions; otherwise 400.
    package var chunkLineBytes: Int
    /// Bytes of all chunk extensions of one request together; otherwise 400.
    package var chunkExtensionBytes: Int
    /// Bytes of a body that have to arrive each second, on average over a third of its time; otherwise 408.
    package var bodyBytesPerSecond: Int
    /// Number of empty lines before a request line (RFC 9112 section 2.2); otherwise 400.
    package var leadingEmptyLines: Int
    /// Bytes that may wait behind a request in flight. With more, the server stops reading from the socket.
    package var pipelineBytes: Int
    /// Number of requests that wait on one connection and are served in a row, before others have their turn.
    package var requestsInARow: Int
    /// Bytes that are read and discarded between the last response and the close.
    package var lingerBytes: Int

    package init(
        requestLineBytes: Int = 8 * 1024, headerBlockBytes: Int = 16 * 1024, bodyBytes: Int = 1024 * 1024,
        chunkLineBytes: Int = 256, chunkExtensionBytes: Int = 4 * 1024, bodyBytesPerSecond: Int = 500,
        leadingEmptyLines: Int = 4,
        pipelineBytes: Int = 16 * 1024, requestsInARow: Int = 4, lingerBytes: Int = 8 * 1024 * 1024
    ) {
        self.requestLineBytes = requestLineBytes
        self.headerBlockBytes = headerBlockBytes
        self.bodyBytes = bodyBytes
        self.chunkLineBytes = chunkLineBytes
        self.chunkExtensionBytes = chunkExtensionBytes
        self.bodyBytesPerSecond = bodyBytesPerSecond
        self.leadingEmptyLines = leadingEmptyLines
        self.pipelineBytes = pipelineBytes
        self.requestsInARow = requestsInARow
        self.lingerBytes = lingerBytes
    }
}

package struct HTTPTimeouts: Sendable {
    /// For a complete header block, from the accept or from the request's first byte; then 408.
    package var head: Duration
    /// For a complete body, from the end of the header block; then 408, and after a third of it if too little has come.
    package var body: Duration
    /// For the next request on a kept connection; then the connection is closed without a response.
    package var idle: Duration
    /// For a client that doesn't read its response; then the connection is reset. Any progress starts it again.
    package var write: Duration
    /// For the client's end (FIN) after the last response; then the connection is closed.
    package var linger: Duration
    /// For the first request on a connection that was new when the shutdown began; then the connection is closed.
    package var lastRequest: Duration

    package init(
        head: Duration = .seconds(10), body: Duration = .seconds(30), idle: Duration = .seconds(75),
        write: Duration = .seconds(30), linger: Duration = .seconds(3),
        lastRequest: Duration = .seconds(1)
    ) {
        self.head = head
        self.body = body
        self.idle = idle
        self.write = write
        self.linger = linger
        self.lastRequest = lastRequest
    }
}
