import EventLoop

/// Something that runs on a loop and whose one result one caller waits for: a query, or a lease of a connection.
///
/// Confined to its loop. The first result counts; the caller hears nothing of later ones.
class PendingResult<Success: Sendable> {
    typealias Outcome = Result<Success, PostgresError>

    private var continuation: UnsafeContinuation<Outcome, Never>?

    /// Whether the caller still waits.
    final var isWaitedFor: Bool { continuation != nil }

    /// Resumes the caller, unless it has its result already.
    func complete(with outcome: Outcome) {
        let caller = continuation
        continuation = nil
        caller?.resume(returning: outcome)
    }

    /// Starts the work and waits for its result, even where the task has been cancelled.
    final func outcome(start: () -> Void) async -> Outcome {
        await withUnsafeContinuation {
            continuation = $0
            start()
        }
    }

    /// Starts the work and waits for its result, which is ``PostgresError/Code/cancelled`` where the task has been
    /// cancelled already.
    ///
    /// A `Result`, to be thrown by callers that aren't generic.
    ///
    /// - Parameters:
    ///   - owner: what `cancel` is handed.
    ///   - cancel: called on the loop when the task is cancelled, perhaps after the result has come. It has to complete
    ///     this with an error if the caller still waits.
    final func outcome<Owner>(
        start: () -> Void, owner: LoopBound<Owner>, cancel: @escaping @Sendable (Owner) -> Void
    ) async -> Outcome {
        guard !Task.isCancelled else { return .failure(PostgresError(.cancelled)) }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation {
                continuation = $0
                start()
            }
        } onCancel: {
            owner.loop.execute { cancel(owner.value) }
        }
    }
}

/// Something that happens once and that several tasks may wait for. Confined to its loop.
final class OneTimeEvent {
    private(set) var hasHappened = false
    private var waiters: [UnsafeContinuation<Void, Never>] = []

    /// Returns once it has happened.
    func wait() async {
        guard !hasHappened else { return }
        await withUnsafeContinuation { waiters.append($0) }
    }

    /// Resumes all that wait; later calls do nothing.
    func happen() {
        hasHappened = true
        let resumed = waiters
        waiters = []
        for waiter in resumed { waiter.resume() }
    }
}

/// Wakes one task, again and again. Confined to its loop.
final class WakeUp {
    private var sleeper: UnsafeContinuation<Void, Never>?

    /// Returns at the next call of ``wake()``.
    func sleep() async {
        await withUnsafeContinuation { sleeper = $0 }
    }

    /// Wakes the sleeping task, if there is one.
    func wake() {
        let woken = sleeper
        sleeper = nil
        woken?.resume()
    }
}

extension Duration {
    /// The earlier of two times; nil means never.
    static func earlier(_ one: Duration?, _ other: Duration?) -> Duration? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}
