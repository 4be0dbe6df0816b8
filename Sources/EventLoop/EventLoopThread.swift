import Locking

/// A thread that runs one loop.
public final class EventLoopThread: Sendable {
    /// The loop; it runs until `stopAndJoin()`.
    public let loop: EventLoop
    private let thread: PosixThread
    private let leaked = Lock(0)

    private init(loop: EventLoop, name: String) throws {
        self.loop = loop
        let leaked = self.leaked
        thread = try PosixThread(name: name) {
            let count = loop.run()
            leaked.withLock { $0 = count }
        }
    }

    /// Starts a thread with a new loop.
    ///
    /// - Throws: `EventLoopError` where the system gives no thread or no file descriptor.
    public static func start(name: String) throws -> EventLoopThread {
        try EventLoopThread(loop: EventLoop(), name: name)
    }

    /// Stops the loop, waits until its active handles have been closed, and ends the thread.
    ///
    /// To be called once, from another thread; it blocks.
    /// - Returns: the number of handles that their owners forgot to close.
    @discardableResult
    public func stopAndJoin() -> Int {
        loop.stop()
        thread.join()
        return leaked.withLock { $0 }
    }
}
