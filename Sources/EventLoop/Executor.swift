import Locking

extension EventLoop: TaskExecutor {
    package func enqueue(_ job: consuming ExecutorJob) {
        schedule(UnownedJob(job))
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }
}

/// Carries a value that belongs to one loop through `@Sendable` closures, and traps when another thread uses it.
///
/// What belongs to a loop is a plain class without locks, so the compiler doesn't allow it in a task's closure. A task
/// that prefers the loop's executor runs on the loop's thread, where using the value is safe.
package struct LoopBound<Value>: @unchecked Sendable {
    // @unchecked: the value is used on the loop's thread only, which the getter checks.
    @usableFromInline let confined: Value

    package let loop: EventLoop

    @inlinable
    package init(_ value: Value, loop: EventLoop) {
        loop.preconditionInEventLoop()
        confined = value
        self.loop = loop
    }

    /// Runs `body` with the value on the loop's thread, and waits for its end. Any thread.
    package func onLoop(_ body: @escaping @Sendable (Value) async -> Void) async {
        await Task(executorPreference: loop) { await body(value) }.value
    }

    /// Traps off the loop's thread, which is a programming error and never caused by input.
    @inlinable
    package var value: Value {
        loop.preconditionInEventLoop()
        return confined
    }
}

extension EventLoop {
    /// Waits, with a resolution of a millisecond. Cancelling the task doesn't shorten it. On the loop's thread.
    package func sleep(for duration: Duration) async {
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
    /// Runs `body` on a new loop on the calling thread. Blocks; call it from a thread that runs no loop.
    package static func runToCompletion<Value: Sendable>(
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

/// What is there at once, in this turn of the loop, or has to be waited for.
///
/// So one function serves both: whoever can go on at once needs no task, and nothing is done twice where it turns out that
/// it can't.
package enum NowOrLater<Value, Failure: Error> {
    case now(Value)
    /// Gets it, or throws why that failed. To be called once, in a task on the same loop.
    case later(() async throws(Failure) -> Value)

    /// Throws why it couldn't be had.
    package func value() async throws(Failure) -> Value {
        switch self {
        case .now(let value): value
        case .later(let get): try await get()
        }
    }
}

/// How long a task has waited for others, and for whom.
package struct WaitTimes: Sendable, Hashable {
    /// Time waited for a turn: for a place in a queue, a connection or a helper thread; nil if it needed none.
    package fileprivate(set) var turnNanoseconds: Int64?
    /// Time waited for a database, once it had a connection: 0 if it got none, nil if it needed none.
    package fileprivate(set) var databaseNanoseconds: Int64?
    /// The database server that was asked last, by host and port; nil where there was no connection.
    package fileprivate(set) var server: String?
}

/// Adds up what a task waits for, for the log. Code that makes a task wait adds to the times of the current task, so
/// that no function in between has to pass them on.
///
/// Confined to its loop.
package final class TaskWaits {
    /// The waits of the current task and of tasks that it starts; nil if nobody reads them.
    @TaskLocal package static var current: LoopBound<TaskWaits>?

    package private(set) var times = WaitTimes()

    package init() {}

    package func addTurn(nanoseconds: Int64) {
        times.turnNanoseconds = (times.turnNanoseconds ?? 0) + nanoseconds
    }

    package func addConnection(nanoseconds: Int64) {
        addTurn(nanoseconds: nanoseconds)
        times.databaseNanoseconds = times.databaseNanoseconds ?? 0
    }

    /// - Parameter server: where the query was; nil where others have asked, for this task too.
    package func addQuery(nanoseconds: Int64, server: String?) {
        times.databaseNanoseconds = (times.databaseNanoseconds ?? 0) + nanoseconds
        times.server = server ?? times.server
    }

    /// The task has waited for work that others waited for, too.
    package func add(_ shared: WaitTimes) {
        if let time = shared.turnNanoseconds { addTurn(nanoseconds: time) }
        if let time = shared.databaseNanoseconds { addQuery(nanoseconds: time, server: shared.server) }
    }
}
