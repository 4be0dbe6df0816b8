import EventLoop
import Postgres
import PrivateCluster
import Testing

@Suite("Deadlines, cancelling and lost connections", .timeLimit(.minutes(2)))
struct DeadlineTests {
    private static let database = Result { try TestDatabase() }

    @Test("A query that is too slow fails at its deadline, and the next one is answered after it")
    func deadline() async throws {
        try await withConnection(Self.database.get()) { connection in
            let clock = ContinuousClock()
            let start = clock.now
            let failure = await code {
                try await connection.query("SELECT pg_sleep(1.9)", timeout: .milliseconds(200))
            }
            let elapsed = clock.now - start
            #expect(failure == .queryTimedOut)
            #expect(elapsed < .milliseconds(1800), "that is when the server is done, not the deadline")
            try await expectAnswer(connection)
        }
    }

    @Test("A query that the server's own timeout ends fails with the same error")
    func statementTimeout() async throws {
        try await withConnection(Self.database.get(), { $0.statementTimeout = .milliseconds(50) }) {
            connection in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await connection.query("SELECT pg_sleep(30)")
            }
            #expect(error?.code == .queryTimedOut && error?.sqlState == .queryCanceled)
            try await expectAnswer(connection)
        }
    }

    @Test("Deadlines of many queries on one connection hold, each its own")
    func manyDeadlines() async throws {
        try await withConnection(Self.database.get()) { connection in
            let bound = LoopBound(connection, loop: connection.loop)
            let codes = await withTaskGroup(of: (Int, PostgresError.Code?).self) { group in
                for index in 0..<10 {
                    group.addTask(executorPreference: bound.loop) {
                        // The first holds up the others until after the early deadlines.
                        let sql: PostgresQuery = index == 0 ? "SELECT pg_sleep(0.5)" : "SELECT 1"
                        let timeout: Duration = index % 2 == 0 ? .seconds(30) : .milliseconds(10 * index)
                        return (index, await code { try await bound.value.query(sql, timeout: timeout) })
                    }
                }
                return await group.reduce(into: [Int: PostgresError.Code?]()) { $0[$1.0] = $1.1 }
            }
            for index in 0..<10 {
                #expect(codes[index] == .some(index % 2 == 0 ? nil : .queryTimedOut), "query \(index)")
            }
        }
    }

    @Test("A connection whose query far overruns its deadline is closed")
    func overrun() async throws {
        let change: @Sendable (inout PostgresConfiguration) -> Void = {
            $0.statementTimeout = nil
            $0.overrunGrace = .milliseconds(100)
        }
        try await withConnection(Self.database.get(), change) { connection in
            let bound = LoopBound(connection, loop: connection.loop)
            async let behind = Task(executorPreference: bound.loop) {
                await code { try await bound.value.query("SELECT 1") }
            }.value
            #expect(
                await code {
                    try await connection.query("SELECT pg_sleep(60)", timeout: .milliseconds(50))
                } == .queryTimedOut)
            _ = await behind
            #expect(await code { try await connection.query("SELECT 1") } != nil)
            #expect(!connection.isOpen)
        }
    }

    @Test("Cancelling the task fails the query at once and ends it in the server, but not the next query")
    func cancelling() async throws {
        let database = try Self.database.get()
        try await withConnection(database, { $0.statementTimeout = .seconds(60) }) { connection in
            try await withObserver(database, connection) { observer in
                for round in 0..<5 {
                    let bound = LoopBound(connection, loop: connection.loop)
                    let task = Task(executorPreference: connection.loop) {
                        await code { try await bound.value.query("SELECT pg_sleep(59), 'to be cancelled'") }
                    }
                    try await waitUntil(observer, Self.isRunning(connection, "to be cancelled"))
                    task.cancel()
                    #expect(await task.value == .cancelled)
                    // Sent while the request is still on its way: must not be what the server cancels.
                    let rows = try await connection.query(PostgresQuery("SELECT $1", [.int4(Int32(round))]))
                    #expect(try rows.only().decode(Int.self, at: 0) == round)
                }
            }
        }
    }

    @Test("A task that is cancelled already sends nothing")
    func cancelledBefore() async throws {
        try await withConnection(Self.database.get()) { connection in
            let bound = LoopBound(connection, loop: connection.loop)
            let task = Task(executorPreference: connection.loop) {
                withUnsafeCurrentTask { $0?.cancel() }
                return await code { try await bound.value.query("CREATE TABLE never (n int)") }
            }
            #expect(await task.value == .cancelled)
            let exists = try await connection.query("SELECT to_regclass('never') IS NOT NULL")
            #expect(try exists.only().decode(Bool.self, at: 0) == false)
        }
    }

    @Test("A killed backend fails what is in flight with a typed error, and later queries with another")
    func killedBackend() async throws {
        let database = try Self.database.get()
        try await withConnection(database) { connection in
            try await withObserver(database, connection) { observer in
                let bound = LoopBound(connection, loop: connection.loop)
                let tasks = (0..<3).map { _ in
                    Task(executorPreference: connection.loop) {
                        await code { try await bound.value.query("SELECT pg_sleep(30), 'to be killed'") }
                    }
                }
                try await waitUntil(observer, Self.isRunning(connection, "to be killed"))
                let kill = PostgresQuery(
                    "SELECT pg_terminate_backend($1)", [.int4(connection.backendProcessID)])
                _ = try await observer.query(kill)
                for task in tasks { #expect(await task.value == .connectionLost) }
                #expect(await code { try await connection.query("SELECT 1") } == .closed)
            }
        }
    }

    @Test("Closing fails what is in flight, may be repeated, and leaves no backend")
    func closing() async throws {
        let database = try Self.database.get()
        try await withConnection(database) { connection in
            try await withObserver(database, connection) { observer in
                let bound = LoopBound(connection, loop: connection.loop)
                let task = Task(executorPreference: connection.loop) {
                    await code { try await bound.value.query("SELECT pg_sleep(1.9), 'to be closed'") }
                }
                try await waitUntil(observer, Self.isRunning(connection, "to be closed"))
                await connection.close()
                await connection.close()
                #expect(await task.value == .closed)
                try await waitUntil(
                    observer,
                    PostgresQuery(
                        "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)",
                        [.int4(connection.backendProcessID)]))
            }
        }
    }

    /// Whether the connection's backend is running a query that holds this text.
    private static func isRunning(_ connection: PostgresConnection, _ text: String) -> PostgresQuery {
        PostgresQuery(
            """
            SELECT EXISTS (SELECT FROM pg_stat_activity
                           WHERE pid = $1 AND state = 'active' AND query LIKE '%' || $2 || '%')
            """, [.int4(connection.backendProcessID), .text(text)])
    }

    /// Another connection on the same loop, closed at the end.
    private func withObserver(
        _ database: TestDatabase, _ connection: PostgresConnection,
        _ body: (PostgresConnection) async throws -> Void
    ) async throws {
        let configuration = try PostgresConfiguration(conninfo: database.connectionString)
        let observer = try await PostgresConnection.connect(configuration, loop: connection.loop)
        do {
            try await body(observer)
            await observer.close()
        } catch {
            await observer.close()
            throw error
        }
    }
}
