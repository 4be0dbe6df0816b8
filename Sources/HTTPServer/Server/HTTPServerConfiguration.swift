/// The settings of a server, one per loop.
public struct HTTPServerConfiguration: Sendable {
    /// How much of a request the server takes.
    public var limits: HTTPLimits
    /// How long the server waits for a client.
    public var timeouts: HTTPTimeouts
    /// Most connections at a time; what is beyond is told 503 and closed, without a look at its request.
    public var maximumConnections: Int
    /// Descriptors from this one on are not for clients: a connection that gets one is reset, since the process needs
    /// those that are left for itself. Nil where there is no such bound.
    public var maximumDescriptor: Int?
    /// Counts the connections of each client; nil where a client may have as many as it likes.
    public var connectionsPerClient: (any HTTPClientConnections)?
    /// The memory for the bodies of requests, shared by all servers that are given the same.
    public var bodyBudget: BodyBudget
    /// What a refused client is told to wait, in seconds.
    public var retryAfterSeconds: Int
    /// Fields that every answer has, those to requests that can't be read included.
    public var commonFields: HTTPHeaders

    /// The contract's settings, each of which can be set.
    public init(
        limits: HTTPLimits = HTTPLimits(), timeouts: HTTPTimeouts = HTTPTimeouts(),
        maximumConnections: Int = 10_000, connectionsPerClient: (any HTTPClientConnections)? = nil,
        bodyBudget: BodyBudget = BodyBudget(), retryAfterSeconds: Int = 1,
        commonFields: HTTPHeaders = HTTPHeaders()
    ) {
        self.limits = limits
        self.timeouts = timeouts
        self.maximumConnections = maximumConnections
        self.connectionsPerClient = connectionsPerClient
        self.bodyBudget = bodyBudget
        self.retryAfterSeconds = retryAfterSeconds
        self.commonFields = commonFields
    }
}

/// Counts the open connections of each client, whichever server has accepted them.
public protocol HTTPClientConnections: Sendable {
    /// Counts a new connection; false where the client has as many as it may.
    func open(from remoteAddress: String?) -> Bool

    /// A connection that was counted has closed.
    func close(from remoteAddress: String?)
}

/// How much of a request the server takes; what is beyond is answered with an error and a close.
public struct HTTPLimits: Sendable {
    /// Longest request line in bytes, its CRLF not counted; beyond it 414.
    public var requestLineBytes: Int
    /// Largest header block in bytes, request line not counted, line ends counted; beyond it 431. The
    /// trailers of a chunked body have a block of the same size.
    public var headerBlockBytes: Int
    /// Largest body in bytes, chunk framing not counted; beyond it 413.
    public var bodyBytes: Int
    /// Longest line that opens a chunk, with its extensions, in bytes; beyond it 400.
    public var chunkLineBytes: Int
    /// Most bytes that all chunk extensions of one request may have together; beyond it 400.
    public var chunkExtensionBytes: Int
    /// Most empty lines that are passed over before a request line (RFC 9112 section 2.2); beyond it 400.
    public var leadingEmptyLines: Int
    /// Bytes that may wait behind a request in flight before the server stops reading from the socket.
    public var pipelineBytes: Int
    /// Bytes that are read and thrown away between the last answer and the close.
    public var lingerBytes: Int

    /// The limits of the contract, each of which can be set.
    public init(
        requestLineBytes: Int = 8 * 1024, headerBlockBytes: Int = 16 * 1024, bodyBytes: Int = 1024 * 1024,
        chunkLineBytes: Int = 256, chunkExtensionBytes: Int = 4 * 1024, leadingEmptyLines: Int = 4,
        pipelineBytes: Int = 64 * 1024, lingerBytes: Int = 8 * 1024 * 1024
    ) {
        self.requestLineBytes = requestLineBytes
        self.headerBlockBytes = headerBlockBytes
        self.bodyBytes = bodyBytes
        self.chunkLineBytes = chunkLineBytes
        self.chunkExtensionBytes = chunkExtensionBytes
        self.leadingEmptyLines = leadingEmptyLines
        self.pipelineBytes = pipelineBytes
        self.lingerBytes = lingerBytes
    }
}

/// How long the server waits for a client.
public struct HTTPTimeouts: Sendable {
    /// For a complete header block, counted from the accept or from the request's first byte; then 408.
    public var head: Duration
    /// For a complete body, counted from its header block; then 408.
    public var body: Duration
    /// For the next request on a kept connection; then a close without a word.
    public var idle: Duration
    /// For a client that takes nothing of an answer; then the connection is reset.
    public var write: Duration
    /// For the client's end after the last answer; then the close.
    public var linger: Duration
    /// For the first request on a connection that was new when the server began to end; then a close.
    public var lastRequest: Duration

    /// The time-outs of the contract, each of which can be set.
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
