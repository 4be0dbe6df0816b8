import CSystem
import Locking

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

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
    /// - Throws: `EventLoopError` if the system has no thread or no file descriptor left.
    public static func start(name: String) throws -> EventLoopThread {
        try EventLoopThread(loop: EventLoop(), name: name)
    }

    /// Waits until the loop has ended, which something on it has to stop. Call it once, from another thread. Blocks.
    package func join() {
        thread.join()
    }

    /// Stops the loop, waits until its active handles are closed, and ends the thread.
    ///
    /// Call it once, from another thread. Blocks.
    /// - Returns: the number of handles that their owners forgot to close.
    @discardableResult
    public func stopAndJoin() -> Int {
        loop.stop()
        thread.join()
        return leaked.withLock { $0 }
    }
}

/// A joinable thread that runs one closure.
final class PosixThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread. Linux keeps the first 15 bytes of the name.
    init(name: String, _ body: @escaping @Sendable () -> Void) throws(EventLoopError) {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let status = pthread_create(&thread, nil, posixThreadMain, start.toOpaque())
        guard status == 0 else {
            start.release()
            throw EventLoopError(code: -status)
        }
        #if canImport(Darwin)
            guard let thread else { throw EventLoopError(code: -EAGAIN) }
        #endif
        handle = thread
    }

    /// Waits until the closure has returned. Call it once, from another thread.
    func join() {
        pthread_join(handle, nil)
    }

    /// Lets the thread end by itself. Call it instead of `join()`.
    func detach() {
        pthread_detach(handle)
    }

    fileprivate final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        static func run(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
            let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
            poi_name_current_thread(start.name)
            start.body()
            return nil
        }
    }
}

#if canImport(Darwin)
    private func posixThreadMain(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        PosixThread.Start.run(argument)
    }
#else
    private func posixThreadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        argument.flatMap(PosixThread.Start.run)
    }
#endif
