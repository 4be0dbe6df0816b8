import Locking

extension EventLoop: TaskExecutor {
    /// Queues a job of the Swift runtime for the loop's thread. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        schedule(UnownedJob(job))
    }

    /// The loop as the executor that tasks prefer.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }
}

/// Carries a value that belongs to one loop through `@Sendable` closures, and traps when another thread uses it.
///
/// What belongs to a loop is a plain class without locks, so the compiler doesn't allow it in a task's closure. A task
/// that prefers the loop's executor runs on the loop's thread, where using the value is safe. This type says so to the
/// compiler and checks it at every access. Modelled on SwiftNIO's `NIOLoopBound`.
public struct LoopBound<Value>: @unchecked Sendable {
    // @unchecked: the value is used on the loop's thread only, which the getter checks.
    private let confined: Value

    /// The loop whose thread may use the value.
    public let loop: EventLoop

    /// Binds `value` to `loop`. Call it on the loop's thread.
    public init(_ value: Value, loop: EventLoop) {
        loop.preconditionInEventLoop()
        confined = value
        self.loop = loop
    }

    /// Runs `body` with the value on the loop's thread, and waits for its end. Any thread.
    public func onLoop(_ body: @escaping @Sendable (Value) async -> Void) async {
        await Task(executorPreference: loop) { await body(value) }.value
    }

    /// The value. Traps off the loop's thread, which is a programming error and never caused by input.
    public var value: Value {
        loop.preconditionInEventLoop()
        return confined
    }
}

extension EventLoop {
    /// Waits, with a resolution of a millisecond. Cancelling the task doesn't shorten it. On the loop's thread.
    public func sleep(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            var timer: LoopTimer?
            timer = LoopTimer(loop: self) {
                timer?.close()
                timer = nil
                continuation.resume()
            }
            timer?.start(after: duration)
        }
    }
}

extension EventLoop {
    /// Runs `body` on a new loop on the calling thread, and returns its result.
    ///
    /// For commands that do one thing and end. Blocks; call it from a thread that runs no loop.
    /// - Throws: what `body` throws; `EventLoopError` if the system can't make a loop.
    public static func runToCompletion<Value: Sendable>(
        _ body: @escaping @Sendable (EventLoop) async throws -> Value
    ) throws -> Value {
        let loop = try EventLoop()
        let outcome = Lock<Result<Value, any Error>?>(nil)
        loop.execute {
            Task(executorPreference: loop) {
                let result: Result<Value, any Error>
                do {
                    result = .success(try await body(loop))
                } catch {
                    result = .failure(error)
                }
                outcome.withLock { $0 = result }
                loop.stop()
            }
        }
        loop.run()
        guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
