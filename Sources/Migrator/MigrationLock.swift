import Locking
import Postgres

/// The advisory lock that one run at a time holds, from reading the rows to the last record.
///
/// Taken by polling: a session that waits inside `pg_advisory_lock` holds a snapshot, for whose end the other
/// run's `CREATE INDEX CONCURRENTLY` would wait, a deadlock.
struct MigrationLock {
    /// "poi_migr" in ASCII. Advisory locks are the database's own, so one number will do for all.
    private static let key = PostgresValue.int8(0x706f_695f_6d69_6772)
    private static let pollingMilliseconds = 80...160

    /// Takes the lock for `body`, waiting at most `limit` for whoever holds it.
    static func withLock<R>(
        on connection: PostgresConnection, waitingAtMost limit: Duration, onWait: () -> Void,
        _ body: () async throws -> R
    ) async throws -> R {
        try await acquire(on: connection, waitingAtMost: limit, onWait: onWait)
        do {
            let result = try await body()
            try await release(on: connection)
            return result
        } catch {
            // The session ends anyway, and the lock with it; this only spares others the wait for that.
            try? await release(on: connection)
            throw error
        }
    }

    private static func acquire(
        on connection: PostgresConnection, waitingAtMost limit: Duration, onWait: () -> Void
    ) async throws {
        let deadline = ContinuousClock.now + limit
        var hasWaited = false
        while true {
            let row = try await connection.query(PostgresQuery("SELECT pg_try_advisory_lock($1)", [key]))
                .only()
            if try row.decode(Bool.self, at: 0) { return }
            guard ContinuousClock.now < deadline else { throw MigrationError.lockTimedOut(limit) }
            if !hasWaited { onWait() }
            hasWaited = true
            // With jitter, so that many that start together don't ask together.
            try await Task.sleep(for: .milliseconds(Int.random(in: pollingMilliseconds)))
        }
    }

    private static func release(on connection: PostgresConnection) async throws {
        _ = try await connection.query(PostgresQuery("SELECT pg_advisory_unlock($1)", [key]))
    }
}
