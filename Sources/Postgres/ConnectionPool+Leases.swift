import EventLoop

extension ConnectionPool {
    /// Lends a connection of the exclusive lane to `body`, alone.
    ///
    /// Afterwards the session is put back to its start (`DISCARD ALL`): settings, temporary tables, advisory
    /// locks, channels, an open transaction; if that fails, it is closed. The connection must not be kept.
    /// - Throws: what `body` throws; ``PostgresError/Code/busy`` or ``PostgresError/Code/unavailable``.
    public func withConnection<Value>(
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let (connection, slot) = try await lease()
        do {
            let value = try await body(connection)
            await connection.resetSession()
            exclusive.endLease(of: connection, slot: slot)
            return value
        } catch {
            await connection.resetSession()
            exclusive.endLease(of: connection, slot: slot)
            throw error
        }
    }

    /// Runs `body` in a transaction of its own: committed if it returns, rolled back if it throws.
    public func withTransaction<Value>(
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        try await withConnection { try await $0.withTransaction(body) }
    }

    private func lease() async throws(PostgresError) -> (PostgresConnection, slot: Int) {
        loop.preconditionInEventLoop()
        guard !Task.isCancelled else { throw PostgresError(.cancelled) }
        let lease = PendingLease()
        let bound = LoopBound((exclusive, lease), loop: loop)
        let answer = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                lease.continuation = continuation
                exclusive.acquire(.lease(lease))
            }
        } onCancel: {
            bound.loop.execute {
                let (lane, lease) = bound.value
                lane.cancel(lease)
            }
        }
        let slot = try answer.get()
        guard let connection = exclusive.connection(of: slot) else { throw PostgresError(.connectionLost) }
        return (connection, slot)
    }
}
