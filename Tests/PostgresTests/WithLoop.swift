import EventLoop
import Loopback
import Postgres
import PrivateCluster
import Testing

/// Runs `body` with a new connection to the database, and closes it.
func withConnection<Value: Sendable>(
    _ database: TestDatabase, _ change: @escaping @Sendable (inout PostgresConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (PostgresConnection) async throws -> Value
) async throws -> Value {
    var configuration = try PostgresConfiguration(conninfo: database.connectionString)
    change(&configuration)
    return try await onLoop { [configuration] loop in
        try await PostgresConnection.withConnection(configuration, loop: loop, body)
    }
}

/// Runs `body` with a new pool for the database, and closes it.
func withPool<Value: Sendable>(
    _ conninfo: String, _ change: @escaping @Sendable (inout PoolOptions) -> Void = { _ in },
    _ body: @escaping @Sendable (ConnectionPool) async throws -> Value
) async throws -> Value {
    var options = PoolOptions()
    change(&options)
    let configuration = try PostgresConfiguration(conninfo: conninfo)
    return try await onLoop { [options] loop in
        let pool = ConnectionPool(configuration, options: options, loop: loop)
        do {
            let value = try await body(pool)
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}

/// The code of the ``PostgresError`` that `body` throws.
func code(_ body: () async throws -> some Any) async -> PostgresError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? PostgresError)?.code
    }
}

/// Looks again, after other work of the loop each time, until the condition holds.
func waitUntil(_ condition: () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Asks again until the query answers true; the server makes the pauses.
func waitUntil(_ connection: PostgresConnection, _ condition: PostgresQuery) async throws {
    for _ in 0..<1000 {
        if try await connection.query(condition).only().decode(Bool.self, at: 0) { return }
        _ = try await connection.query("SELECT pg_sleep(0.01)")
    }
    Issue.record("this never became true: \(condition.sql.text)")
}

/// The connection works.
func expectAnswer(_ connection: PostgresConnection, _ location: SourceLocation = #_sourceLocation)
    async throws
{
    let row = try await connection.query(PostgresQuery("SELECT $1", [.int4(5)])).only()
    #expect(try row.decode(Int.self, at: 0) == 5, sourceLocation: location)
}

/// Runs `body` while another session holds the advisory lock.
func withBlocker(
    _ database: TestDatabase, _ loop: EventLoop, lock: Int32,
    _ body: (PostgresConnection) async throws -> Void
) async throws {
    let configuration = try PostgresConfiguration(conninfo: database.connectionString)
    let blocker = try await PostgresConnection.connect(configuration, loop: loop)
    do {
        _ = try await blocker.query(PostgresQuery("SELECT pg_advisory_lock($1)", [.int8(Int64(lock))]))
        try await body(blocker)
        await blocker.close()
    } catch {
        await blocker.close()
        throw error
    }
}
