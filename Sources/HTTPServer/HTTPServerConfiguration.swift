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
