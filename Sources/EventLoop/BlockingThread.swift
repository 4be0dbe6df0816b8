import Locking

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A thread for calls that block, one at a time, so that no loop has to wait for them.
///
/// Usable from any thread. The waiting line is bounded: what doesn't fit is refused at once.
public final class BlockingThread: Sendable {
    /// Why work was refused.
    public enum Refusal: Error, Hashable {
        /// As many calls wait as may wait.
        case full
        /// `shutdown()` was called.
        case shutDown
    }

    private let line: Line
    private let capacity: Int

    /// Starts the thread at its first use.
    ///
    /// - Parameter capacity: how many calls may wait, at least 1.
    public init(name: String, capacity: Int) {
        self.capacity = max(1, capacity)
        line = Line(name: name)
    }

    deinit {
        line.end()
    }

    /// Runs `work` on the thread, after what was handed over before, and answers its result.
    ///
    /// - Throws: what `work` throws; `Refusal` where it isn't run; `EventLoopError` where the system
    ///   gives no thread.
    public func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try line.append(atMost: capacity) {
                    continuation.resume(with: Result(catching: work))
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Refuses further work; what waits is still done, then the thread ends by itself.
    public func shutdown() {
        line.end()
    }
}

/// The works that wait, and the condition that tells the thread of them.
///
/// Apart from `BlockingThread`, so that the thread's reference doesn't keep that one alive.
private final class Line: @unchecked Sendable {
    // @unchecked: a pthread condition variable is C memory, safe to use from any thread.
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private let state = Lock(State())
    private let name: String

    private struct State {
        var works: [@Sendable () -> Void] = []
        var isEnded = false
        var isStarted = false
    }

    init(name: String) {
        self.name = name
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
                try PosixThread(name: name) { [self] in
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

    /// Waits for the next work; nil at the end.
    private func next() -> (@Sendable () -> Void)? {
        state.wait(on: condition) { state -> (@Sendable () -> Void)?? in
            if !state.works.isEmpty { return .some(state.works.removeFirst()) }
            return state.isEnded ? .some(nil) : nil
        }
    }
}
