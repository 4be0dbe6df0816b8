/// The settings of a server, one per loop.
public struct HTTPServerConfiguration: Sendable {
    /// How much of a request the server takes.
    public var limits: HTTPLimits
    /// How long the server waits for a client.
    public var timeouts: HTTPTimeouts
    /// Most connections at a time; what is beyond is told 503 and closed, without a look at its request.
    public var maximumConnections: Int
    /// What a refused client is told to wait, in seconds.
    public var retryAfterSeconds: Int
    /// Fields that every answer has, those to requests that can't be read included.
    public var commonFields: HTTPHeaders

    /// The contract's settings, each of which can be set.
    public init(
        limits: HTTPLimits = HTTPLimits(), timeouts: HTTPTimeouts = HTTPTimeouts(),
        maximumConnections: Int = 10_000, retryAfterSeconds: Int = 1,
        commonFields: HTTPHeaders = HTTPHeaders()
    ) {
        self.limits = limits
        self.timeouts = timeouts
        self.maximumConnections = maximumConnections
        self.retryAfterSeconds = retryAfterSeconds
        self.commonFields = commonFields
    }
}
