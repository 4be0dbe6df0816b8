import CSystem
import Locking

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

package final class EventLoopThread: Sendable {
    package let loop: EventLoop
    private let thread: PosixThread
    private let leaked = Lock(0)

    private init(loop: EventLoop, name: String, yields: Bool) throws {
        self.loop = loop
        let leaked = self.leaked
        thread = try PosixThread(name: name, yields: yields) {
            let count = loop.run()
            leaked.withLock { $0 = count }
        }
    }

    /// - Parameter yields: whether other threads go first where they want the processor, too.
    package static func start(name: String, yields: Bool = false) throws -> EventLoopThread {
        try EventLoopThread(loop: EventLoop(), name: name, yields: yields)
    }

    /// Something on the loop has to stop it. Call it once, from another thread. Blocks.
    package func join() {
        thread.join()
    }

    /// Stops the loop, waits until its active handles are closed, and ends the thread. Call it once, from another thread.
    ///
    /// - Returns: the number of handles that their owners forgot to close.
    @discardableResult
    package func stopAndJoin() -> Int {
        loop.stop()
        thread.join()
        return leaked.withLock { $0 }
    }
}

final class PosixThread: Sendable {
    private let handle: pthread_t

    /// Linux keeps the first 15 bytes of the name.
    init(name: String, yields: Bool, _ body: @escaping @Sendable () -> Void) throws(EventLoopError) {
        let start = Unmanaged.passRetained(Start(name: name, yields: yields, body: body))
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

    /// Call it once, from another thread.
    func join() {
        pthread_join(handle, nil)
    }

    /// Call it instead of `join()`.
    func detach() {
        pthread_detach(handle)
    }

    fileprivate final class Start: Sendable {
        let name: String
        let yields: Bool
        let body: @Sendable () -> Void

        init(name: String, yields: Bool, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.yields = yields
            self.body = body
        }

        static func run(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
            let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
            poi_name_current_thread(start.name)
            if start.yields { poi_yield_to_other_threads() }
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

/// A thread that runs blocking calls one at a time, so that no loop has to wait for them.
///
/// Usable from any thread. The queue is bounded: a call that doesn't fit is refused at once.
package final class BlockingThread: Sendable {
    package enum Refusal: Error, Hashable {
        case full
        case shutDown
    }

    private let queue: WorkQueue
    private let capacity: Int

    /// The thread starts with the first call.
    ///
    /// - Parameter capacity: maximum number of waiting calls; less than 1 counts as 1.
    package init(name: String, capacity: Int, yields: Bool = false) {
        self.capacity = max(1, capacity)
        queue = WorkQueue(name: name, yields: yields)
    }

    deinit {
        queue.end()
    }

    /// Runs `work` after all earlier calls. Throws what `work` throws, a `Refusal`, or why there is no thread.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try start { continuation.resume(with: Result(catching: work)) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// The same without waiting.
    package func start(_ work: @escaping @Sendable () -> Void) throws {
        try queue.append(atMost: capacity, work)
    }

    /// Refuses further calls. Waiting calls still run, then the thread ends by itself.
    package func shutdown() {
        queue.end()
    }
}

/// Separate from `BlockingThread`, so that the running thread doesn't keep the `BlockingThread` alive.
private final class WorkQueue: @unchecked Sendable {
    // @unchecked: a pthread condition variable is C memory, safe to use from any thread.
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private let state = Lock(State())
    private let name: String
    private let yields: Bool

    private struct State {
        var works: [@Sendable () -> Void] = []
        var isEnded = false
        var isStarted = false
    }

    init(name: String, yields: Bool) {
        self.name = name
        self.yields = yields
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        let status = pthread_cond_init(condition, nil)
        precondition(status == 0, "pthread_cond_init failed: \(status)")
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    func append(atMost capacity: Int, _ work: @escaping @Sendable () -> Void) throws {
        try state.withLock { state in
            guard !state.isEnded else { throw BlockingThread.Refusal.shutDown }
            guard state.works.count < capacity else { throw BlockingThread.Refusal.full }
            if !state.isStarted {
                try PosixThread(name: name, yields: yields) { [self] in
                    while let work = next() { work() }
                }.detach()
                state.isStarted = true
            }
            state.works.append(work)
            pthread_cond_signal(condition)
        }
    }

    func end() {
        state.withLock { state in
            state.isEnded = true
            pthread_cond_signal(condition)
        }
    }

    /// Waits for the next call; nil once the queue has ended and is empty.
    private func next() -> (@Sendable () -> Void)? {
        state.wait(on: condition) { state -> (@Sendable () -> Void)?? in
            if !state.works.isEmpty { return .some(state.works.removeFirst()) }
            return state.isEnded ? .some(nil) : nil
        }
    }
}
