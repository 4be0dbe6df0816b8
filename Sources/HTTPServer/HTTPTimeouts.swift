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
