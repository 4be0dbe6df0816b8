import EventLoop

/// The threads for the two calls of libpq that block: connecting and cancelling.
///
/// Apart from each other, so that a host that doesn't answer keeps no cancel request waiting.
public struct PostgresThreads: Sendable {
    let connecting: BlockingThread
    let cancelling: BlockingThread

    /// Two threads, each started when it is first used.
    public init() {
        connecting = BlockingThread(name: "pg-connect", capacity: 64)
        cancelling = BlockingThread(name: "pg-cancel", capacity: 64)
    }
}
