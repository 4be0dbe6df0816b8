import EventLoop

/// A query on its way: what to send, who waits for it, and until when.
///
/// Confined to its loop. The caller gets one result; the query itself may go on in the server after that.
final class PendingQuery {
    typealias Outcome = Result<PostgresRows, PostgresError>

    /// What to send.
    enum Command {
        case prepared(PreparedStatement)
        case unnamed(SQL)
    }

    let command: Command
    let parameters: [PostgresValue]
    /// How long the query may take once it is on a connection.
    let timeout: Duration?
    /// May be run again where it is unknown whether it ran.
    let isIdempotent: Bool

    /// When the caller is told that the time is up.
    var deadline: Duration?
    /// When the connection that still runs the query is closed.
    var giveUpTime: Duration?
    /// The rows or the error that have come so far; the caller gets them at the query's Sync.
    var received: Outcome?
    var sentName: String?
    var retriedError: PostgresError?
    /// Sends the query again, on whichever of its connections is free, after an error that need not come again.
    var pool: ConnectionPool?
    /// How often the query may still be sent again. When a server stops, the query may be lost once with each
    /// connection of its pool; if it is lost more often, the query itself could be the reason.
    var resubmissionsLeft = 0
    /// Until when the query may wait, run and be sent again; nil is for ever.
    var expiry: Duration?
    /// The connection that the query was given to; nil while it waits for one, and once its caller has the result.
    var connection: PostgresConnection? {
        willSet { countTime() }
    }
    /// What the caller's task waits for; nil where nobody wants to know.
    var waits: TaskWaits?
    private var countedUntil: Int64 = 0
    /// The caller, until it has its result. The first one counts: it hears nothing of later ones.
    private var continuation: UnsafeContinuation<Outcome, Never>?

    /// Whether the caller still waits.
    var isWaitedFor: Bool { continuation != nil }

    init(
        _ command: Command, _ parameters: [PostgresValue], timeout: Duration?, deadline: Duration? = nil,
        isIdempotent: Bool = false
    ) {
        expiry = deadline
        self.command = command
        self.parameters = parameters
        self.timeout = timeout
        self.isIdempotent = isIdempotent
        waits = TaskWaits.current?.value
        if waits != nil { countedUntil = MonotonicClock.nanoseconds() }
    }

    /// Adds the time since the last call to what it was spent on: a connection's query, or waiting for a connection.
    private func countTime() {
        guard let waits else { return }
        let now = MonotonicClock.nanoseconds()
        if let connection {
            waits.addQuery(nanoseconds: now - countedUntil, server: connection.server)
        } else {
            waits.addConnection(nanoseconds: now - countedUntil)
        }
        countedUntil = now
    }

    /// Gives the caller the result, or sends the query again where it may and that may help.
    func complete(with outcome: Outcome) {
        guard isWaitedFor else { return }
        if let pool, resubmissionsLeft > 0, case .failure(let error) = outcome, error.mayPassAgain {
            resubmissionsLeft -= 1
            (received, retriedError) = (nil, nil)
            connection = nil
            return pool.resubmit(self, after: error)
        }
        connection = nil
        let caller = continuation
        continuation = nil
        caller?.resume(returning: outcome)
    }

    /// Starts the work and waits for its result, even where the task has been cancelled.
    func outcome(start: () -> Void) async -> Outcome {
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
    /// - Parameter cancel: called on the loop when the task is cancelled, perhaps after the result has come. It has to
    ///   complete this with an error if the caller still waits.
    // Each call that may suspend costs some 400 instructions.
    @inline(__always)
    func outcome(
        on loop: EventLoop, start: () -> Void, cancel: @escaping () -> Void
    ) async -> Outcome {
        guard !Task.isCancelled else { return .failure(PostgresError(.cancelled)) }
        let cancel = LoopBound(cancel, loop: loop)
        return await withTaskCancellationHandler {
            await withUnsafeContinuation {
                continuation = $0
                start()
            }
        } onCancel: {
            cancel.loop.execute { cancel.value() }
        }
    }

    /// Refuses a query that the server would misread, or for which it would end the connection.
    ///
    /// - Throws: ``PostgresError/Code/parameterMismatch`` or ``PostgresError/Code/sendFailed``.
    func validate() throws(PostgresError) {
        // The protocol counts parameters in 16 bits.
        guard parameters.count <= UInt16.max else { throw PostgresError(.parameterMismatch) }
        switch command {
        case .prepared(let statement):
            guard !statement.sql.hasNullByte else { throw PostgresError(.sendFailed) }
            guard statement.parameterTypes.count == parameters.count,
                zip(statement.parameterTypes, parameters).allSatisfy({ $0 == $1.type })
            else { throw PostgresError(.parameterMismatch) }
        case .unnamed(let sql):
            guard !sql.hasNullByte else { throw PostgresError(.sendFailed) }
        }
    }
}

// MARK: - What may be tried again

extension PostgresError {
    /// Whether a query that only reads may succeed when it runs again, in another transaction or on another connection.
    var mayPassAgain: Bool { code == .connectionLost || isReplayConflict || isStaleStatement }

    /// Whether a standby has ended a statement because of what it had to replay (PostgreSQL manual, "Handling Query
    /// Conflicts").
    package var isReplayConflict: Bool { sqlState == .serializationFailure || sqlState == .deadlockDetected }

    /// Whether the prepared statement is gone (26000: `DISCARD ALL`, a pooler), or its result type has changed (0A000,
    /// which has other causes, too: plancache.c's function name tells).
    var isStaleStatement: Bool {
        sqlState == .invalidStatementName
            || (sqlState == .featureNotSupported && server?.sourceFunction == "RevalidateCachedQuery")
    }
}

/// Something that happens once and that several tasks may wait for. Confined to its loop.
final class OneTimeEvent {
    private(set) var hasHappened = false
    private var waiters: [UnsafeContinuation<Void, Never>] = []

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
