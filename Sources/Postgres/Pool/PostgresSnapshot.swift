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

    /// The same with a query that is parsed and planned anew.
    ///
    /// - Throws: ``PostgresError``, as with a prepared statement.
    public func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows {
        try await connection.query(query, timeout: timeout, deadline: deadline)
    }

    /// Runs a query, and hands over its rows in batches of at most this size: so it takes no more memory for more rows.
    ///
    /// - Throws: ``PostgresError``, as with a prepared statement; what `receive` throws.
    public func query(
        _ query: PostgresQuery, inBatchesOf count: Int,
        _ receive: (PostgresRows) throws(PostgresError) -> Void
    ) async throws(PostgresError) {
        _ = try await self.query(
            PostgresQuery("DECLARE batches NO SCROLL CURSOR FOR " + query.sql, query.parameters))
        let fetch = PostgresQuery("FETCH " + SQL(integer: count) + " FROM batches")
        while true {
            let rows = try await self.query(fetch)
            try receive(rows)
            guard rows.count == count else { break }
        }
        _ = try await self.query(PostgresQuery("CLOSE batches"))
    }

    /// Starts the transaction, whose snapshot the first statement takes that isn't LOCK: so a table that is locked before it
    /// was not rewritten after it, which would leave it empty for the snapshot (PostgreSQL manual, "Concurrency Control",
    /// "Caveats").
    fileprivate func begin(locking table: SQL?) async throws(PostgresError) {
        _ = try await query(PostgresQuery("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        if let table { _ = try await query(PostgresQuery("LOCK TABLE " + table + " IN ACCESS SHARE MODE")) }
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
    /// - Parameters:
    ///   - table: a table that is locked against being rewritten, before the snapshot is taken.
    ///   - deadline: until when, by the loop's clock, it may wait for a connection and its statements may run; nil leaves the
    ///     limits to the pool's options.
    /// - Throws: what `body` throws; ``PostgresError`` where there was no connection in time, or it was lost.
    public func withSnapshot<Value>(
        lane name: PoolLaneName, locking table: SQL? = nil, deadline: Duration? = nil,
        _ body: (PostgresSnapshot) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let lane = lane(name)
        var (attemptsLeft, waitsUntil) = (lane.connections.count, Duration?.none)
        while true {
            do throws(PostgresError) {
                return try await withSnapshot(
                    on: lane, locking: table, deadline: deadline, waitsUntil: waitsUntil, body)
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
        on lane: PoolLane, locking table: SQL?, deadline: Duration?, waitsUntil: Duration?,
        _ body: (PostgresSnapshot) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let (connection, slot) = try await lease(lane, waitsUntil)
        connection.isInTransaction = true
        do throws(PostgresError) {
            let snapshot = PostgresSnapshot(connection, deadline: deadline, timeout: queryTimeout)
            try await snapshot.begin(locking: table)
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
        let start = MonotonicClock.nanoseconds()
        let outcome = await lease.outcome(
            on: loop, start: { lane.acquire(.lease(lease), again: waitsUntil) },
            cancel: { lane.cancel(lease) })
        TaskWaits.current?.value.addConnection(nanoseconds: MonotonicClock.nanoseconds() - start)
        let slot = try outcome.get()
        guard let connection = lane.connection(of: slot) else { throw PostgresError(.connectionLost) }
        return (connection, slot)
    }
}
