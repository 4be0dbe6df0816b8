import EventLoop

/// A read-only transaction whose statements all see the same data, on a connection of its own.
///
/// Valid within the closure that it is lent to. Confined to its loop.
public struct PostgresSnapshot {
    private let connection: PostgresConnection
    private let deadline: Duration?
    private let timeout: Duration?

    fileprivate init(_ connection: PostgresConnection, deadline: Duration?, timeout: Duration?) {
        self.connection = connection
        self.deadline = deadline
        self.timeout = timeout
    }

    /// Runs a statement that reads.
    ///
    /// - Throws: ``PostgresError``, as ``ConnectionPool/query(_:_:lane:timeout:deadline:isIdempotent:)`` does; after an
    ///   error every later statement fails.
    public func query(
        _ statement: PreparedStatement, _ parameters: [PostgresValue] = []
    ) async throws(PostgresError) -> PostgresRows {
        try await connection.query(statement, parameters, timeout: timeout, deadline: deadline)
    }

    /// Starts the transaction, whose snapshot the first statement takes.
    fileprivate func begin() async throws(PostgresError) {
        _ = try await connection.query(
            PostgresQuery("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), timeout: timeout,
            deadline: deadline)
    }
}

extension ConnectionPool {
    /// Runs `body` in one snapshot of the data, on one connection of the lane.
    ///
    /// The transaction ends when `body` returns or throws. Where a statement is still running then, because its time was
    /// up or its task cancelled, the server is asked to end it. Where the connection is lost, the statements conflict with
    /// what a standby replays, or a prepared one is gone, `body` runs again in another snapshot, at most as often as the
    /// lane has connections.
    ///
    /// - Parameter deadline: until when, by the loop's clock, it may wait for a connection and its statements may run; nil
    ///   leaves the limits to the pool's options.
    /// - Throws: what `body` throws; ``PostgresError`` where there was no connection in time, or it was lost.
    public func withSnapshot<Value>(
        lane name: PoolLaneName, deadline: Duration? = nil,
        _ body: (PostgresSnapshot) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let lane = lane(name)
        var (attemptsLeft, waitsUntil) = (lane.connections.count, Duration?.none)
        while true {
            do throws(PostgresError) {
                return try await withSnapshot(on: lane, deadline: deadline, waitsUntil: waitsUntil, body)
            } catch {
                let now = loop.now
                let end = deadline ?? now + acquireTimeout
                guard error.mayPassAgain, attemptsLeft > 0, end > now else { throw error }
                waitsUntil = end
                attemptsLeft -= 1
            }
        }
    }

    /// One attempt.
    ///
    /// - Parameter waitsUntil: until when it may wait for a connection, where it had one before.
    private func withSnapshot<Value>(
        on lane: PoolLane, deadline: Duration?, waitsUntil: Duration?,
        _ body: (PostgresSnapshot) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let (connection, slot) = try await lease(lane, waitsUntil)
        connection.isInTransaction = true
        do throws(PostgresError) {
            let snapshot = PostgresSnapshot(connection, deadline: deadline, timeout: queryTimeout)
            try await snapshot.begin()
            let value = try await body(snapshot)
            endLease(of: connection, slot, lane, by: "COMMIT")
            return value
        } catch {
            endLease(of: connection, slot, lane, by: "ROLLBACK")
            throw error
        }
    }

    /// Ends the transaction and then gives the connection back; the caller doesn't wait for it.
    private func endLease(of connection: PostgresConnection, _ slot: Int, _ lane: PoolLane, by sql: SQL) {
        let bound = LoopBound((connection, lane), loop: loop)
        Task(executorPreference: loop) {
            let (connection, lane) = bound.value
            await connection.runOrEnd(sql)
            connection.isInTransaction = false
            lane.endLease(of: connection, slot: slot)
        }
    }

    private func lease(
        _ lane: PoolLane, _ waitsUntil: Duration?
    ) async throws(PostgresError) -> (PostgresConnection, slot: Int) {
        loop.preconditionInEventLoop()
        let lease = PendingResult<Int>()
        let outcome = await lease.outcome(
            start: { lane.acquire(.lease(lease), again: waitsUntil) },
            owner: LoopBound((lane, lease), loop: loop),
            cancel: { lane, lease in lane.cancel(lease) })
        let slot = try outcome.get()
        guard let connection = lane.connection(of: slot) else { throw PostgresError(.connectionLost) }
        return (connection, slot)
    }
}
