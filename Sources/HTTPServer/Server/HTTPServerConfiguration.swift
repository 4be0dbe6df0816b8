/// The settings of a server.
public struct HTTPServerConfiguration: Sendable {
    /// Maximum sizes of a request's parts.
    public var limits: HTTPLimits
    /// How long the server waits for a client.
    public var timeouts: HTTPTimeouts
    /// Maximum number of connections at a time. Further ones get a 503 and are closed; their request isn't read.
    public var maximumConnections: Int
    /// A connection whose descriptor is this number or a higher one is reset: the process needs those descriptors for
    /// itself. Nil for no such limit.
    public var maximumDescriptor: Int?
    /// Counts and limits the connections of each client; nil for no limit.
    public var connectionsPerClient: ClientConnections?
    /// Limits the memory that clients make the server hold. Servers may share it.
    public var memory: ClientMemory
    /// Whose memory that is.
    public var clients: ClientIdentification
    /// The `Retry-After` of refused connections, in seconds.
    public var retryAfterSeconds: Int
    /// Fields that every response has, also the responses to requests that can't be read.
    public var commonFields: HTTPHeaders

    /// Makes a configuration; the defaults are those of the service.
    public init(
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

/// Maximum sizes of a request's parts. A request that exceeds one gets an error response, and its connection is closed.
public struct HTTPLimits: Sendable {
    /// Bytes of the request line, without its CRLF; otherwise 414.
    public var requestLineBytes: Int
    /// Bytes of the header block, with line ends and without the request line; otherwise 431. The trailers of a chunked
    /// body have the same limit.
    public var headerBlockBytes: Int
    /// Bytes of the body, without chunk framing; otherwise 413.
    public var bodyBytes: Int
    /// Bytes of the first line of a chunk, with its extensions; otherwise 400.
    public var chunkLineBytes: Int
    /// Bytes of all chunk extensions of one request together; otherwise 400.
    public var chunkExtensionBytes: Int
    /// Bytes of a body that have to arrive each second, on average over a third of its time; otherwise 408.
    public var bodyBytesPerSecond: Int
    /// Number of empty lines before a request line (RFC 9112 section 2.2); otherwise 400.
    public var leadingEmptyLines: Int
    /// Bytes that may wait behind a request in flight. With more, the server stops reading from the socket.
    public var pipelineBytes: Int
    /// Number of requests that wait on one connection and are served in a row, before others have their turn.
    public var requestsInARow: Int
    /// Bytes that are read and discarded between the last response and the close.
    public var lingerBytes: Int

    /// Makes limits; the defaults are those of the service.
    public init(
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

/// How long the server waits for a client.
public struct HTTPTimeouts: Sendable {
    /// For a complete header block, from the accept or from the request's first byte; then 408.
    public var head: Duration
    /// For a complete body, from the end of the header block; then 408, and after a third of it if too little has come.
    public var body: Duration
    /// For the next request on a kept connection; then the connection is closed without a response.
    public var idle: Duration
    /// For a client that doesn't read its response; then the connection is reset. Any progress starts it again.
    public var write: Duration
    /// For the client's end (FIN) after the last response; then the connection is closed.
    public var linger: Duration
    /// For the first request on a connection that was new when the shutdown began; then the connection is closed.
    public var lastRequest: Duration

    /// Makes timeouts; the defaults are those of the service.
    public init(
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
