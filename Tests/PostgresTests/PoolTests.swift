import Locking
import EventLoop
import Loopback
import Postgres
import PrivateCluster
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("The pool", .timeLimit(.minutes(2)))
struct PoolTests {
    private static let database = Result { try TestDatabase() }
    private static let echo = PreparedStatement("SELECT $1", parameters: [.int8])

    @Test("Ten thousand queries of a hundred tasks each get their own answer")
    func manyQueries() async throws {
        try await withPool(Self.database.get().connectionString) { pool in
            let bound = LoopBound(pool, loop: pool.loop)
            let right = try await withThrowingTaskGroup(of: Int.self) { group in
                for task in 0..<100 {
                    group.addTask(executorPreference: bound.loop) {
                        var right = 0
                        for index in 0..<100 {
                            let value = task * 1000 + index
                            let rows = try await bound.value.query(
                                Self.echo, [.int8(Int64(value))])
                            if try rows.only().decode(Int.self, at: 0) == value { right += 1 }
                        }
                        return right
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(right == 10_000)
            #expect(pool.statistics.busyConnections == 0 && pool.statistics.waiting == 0)
        }
    }

    @Test("A query that gets no connection in time fails as busy, and one too many fails at once")
    func busy() async throws {
        let database = try Self.database.get()
        let change: @Sendable (inout PoolOptions) -> Void = {
            $0.connections = 1
            $0.waiters = 1
            $0.acquireTimeout = .seconds(1)
        }
        try await withPool(database.connectionString, change) { pool in
            // Until it is connected, a query would wait for that.
            try await waitUntil { pool.statistics.connections == 1 }
            let bound = LoopBound(pool, loop: pool.loop)
            try await withBlocker(database, pool.loop, lock: 8) { blocker in
                func ask() -> Task<PostgresError.Code?, Never> {
                    Task(executorPreference: pool.loop) {
                        await code {
                            try await bound.value.query(
                                "SELECT pg_advisory_xact_lock(8)", timeout: .seconds(60))
                        }
                    }
                }
                let first = ask()
                try await waitUntil { pool.statistics.busyConnections == 1 }
                let second = ask()
                try await waitUntil { pool.statistics.waiting == 1 }
                #expect(await ask().value == .busy)
                #expect(pool.statistics.refusedAcquires == 1)
                #expect(await second.value == .busy)
                #expect(pool.statistics.timedOutAcquires == 1)
                _ = try await blocker.query("SELECT pg_advisory_unlock(8)")
                #expect(await first.value == nil)
            }
        }
    }

    @Test("A query that is cancelled while it waits leaves the line; one that runs ends in the server")
    func cancelling() async throws {
        let database = try Self.database.get()
        try await withPool(database.connectionString, { $0.connections = 1 }) { pool in
            _ = try await pool.query("SELECT 1", timeout: .seconds(30))
            let bound = LoopBound(pool, loop: pool.loop)
            try await withBlocker(database, pool.loop, lock: 9) { blocker in
                let running = Task(executorPreference: pool.loop) {
                    await code {
                        try await bound.value.query("SELECT pg_advisory_lock(9)", timeout: .seconds(60))
                    }
                }
                try await waitUntil(
                    blocker,
                    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 9)"
                )
                let waiting = Task(executorPreference: pool.loop) {
                    await code { try await bound.value.query("SELECT 1") }
                }
                try await waitUntil { pool.statistics.waiting == 1 }
                waiting.cancel()
                #expect(await waiting.value == .cancelled)
                #expect(pool.statistics.waiting == 0)
                running.cancel()
                #expect(await running.value == .cancelled)
                try await waitUntil(
                    blocker,
                    "SELECT NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 9)"
                )
                #expect(try await pool.query("SELECT 1").count == 1)
            }
        }
    }

    @Test("Reads lose nothing when all connections are lost at once, again and again")
    func allLost() async throws {
        let database = try TestDatabase()
        // More than it takes to make the connections anew, whatever else the machine does.
        let settings: @Sendable (inout PoolOptions) -> Void = {
            ($0.acquireTimeout, $0.queryTimeout) = (.seconds(20), .seconds(20))
        }
        try await withPool(database.connectionString, settings) { pool in
            await pool.waitUntilTried()
            let bound = LoopBound(pool, loop: pool.loop)
            let isOver = Lock(false)
            let askers = (0..<20).map { _ in
                Task(executorPreference: pool.loop) {
                    var failures: [PostgresError] = []
                    while !isOver.withLock({ $0 }) {
                        do throws(PostgresError) {
                            _ = try await bound.value.query(Self.echo, [.int8(1)], isIdempotent: true)
                        } catch {
                            failures.append(error)
                        }
                    }
                    return failures
                }
            }
            for round in 1...5 {
                try await waitUntil { pool.statistics.connections == 4 }
                _ = try await Task.detached {
                    try database.cluster.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'"
                    )
                }.value
                try await waitUntil { pool.statistics.lostConnections >= 4 * round }
            }
            isOver.withLock { $0 = true }
            for asker in askers {
                let failures = await asker.value
                #expect(failures.isEmpty, "\(failures.map { ($0, $0.serverMessage) })")
            }
        }
    }

    @Test("An idempotent query whose connection is lost runs on another one, and any other query fails")
    func idempotent() async throws {
        let database = try Self.database.get()
        try database.execute("CREATE SEQUENCE tries")
        try await withPool(database.connectionString, { $0.connections = 4 }) { pool in
            // Kills its own backend at the first try only.
            let query: PostgresQuery =
                "SELECT CASE WHEN nextval('tries') = 1 THEN pg_terminate_backend(pg_backend_pid()) ELSE false END"
            let rows = try await pool.query(query, isIdempotent: true)
            #expect(try rows.only().decode(Bool.self, at: 0) == false)
            let deadly: PostgresQuery = "SELECT pg_terminate_backend(pg_backend_pid())"
            #expect(await code { try await pool.query(deadly, isIdempotent: true) } == .connectionLost)
            #expect(await code { try await pool.query(deadly) } == .connectionLost)
        }
    }

    @Test(
        "A query that only reads runs again after a conflict with a standby's replay, and any other query fails"
    )
    func replayConflict() async throws {
        let database = try TestDatabase()
        try database.execute(
            """
            CREATE SEQUENCE calls;
            CREATE FUNCTION read(conflicts bool) RETURNS int LANGUAGE plpgsql AS $$
            BEGIN
                IF conflicts THEN RAISE 'conflict' USING ERRCODE = '40001'; END IF;
                RETURN 7;
            END $$
            """)
        try await withPool(database.connectionString) { pool in
            // Every second call conflicts.
            let alternating = PreparedStatement("SELECT read(nextval('calls') % 2 = 1)")
            let rows = try await pool.query(alternating, isIdempotent: true)
            #expect(try rows.only().decode(Int.self, at: 0) == 7)
            #expect(await code { try await pool.query(alternating) } == .server)
        }
    }

    @Test("An idle connection whose server no longer responds is found and replaced")
    func frozenBackend() async throws {
        let database = try TestDatabase()
        var options = PoolOptions()
        options.connections = 1
        options.healthCheckInterval = .milliseconds(50)
        var configuration = try PostgresConfiguration(conninfo: database.connectionString)
        configuration.overrunGrace = .milliseconds(50)
        try await onLoop { [configuration, options] loop in
            let pool = ConnectionPool(configuration, options: options, loop: loop)
            let frozen = try await pool.query("SELECT pg_backend_pid()").only().decode(Int32.self, at: 0)
            kill(frozen, SIGSTOP)
            try await waitUntil { pool.statistics.lostConnections == 1 }
            kill(frozen, SIGCONT)
            let other = try await pool.query("SELECT pg_backend_pid()").only().decode(Int32.self, at: 0)
            #expect(other != frozen)
            await pool.close()
        }
    }

    @Test("Closing waits for what is in flight, refuses the rest, and leaves no backend")
    func closing() async throws {
        let database = try TestDatabase()
        try await withPool(database.connectionString) { pool in
            let bound = LoopBound(pool, loop: pool.loop)
            _ = try await pool.query("SELECT 1")
            try await withBlocker(database, pool.loop, lock: 11) { blocker in
                let running = Task(executorPreference: pool.loop) {
                    try await bound.value.query(Self.waitForLock, [.int8(11)]).count
                }
                try await waitUntil { pool.statistics.busyConnections == 1 }
                let closing = Task(executorPreference: pool.loop) { await bound.value.close() }
                try await waitUntil { pool.statistics.connections == 1 }
                #expect(await code { try await pool.query("SELECT 1") } == .closed)
                _ = try await blocker.query("SELECT pg_advisory_unlock(11)")
                #expect(try await running.value == 1)
                await closing.value
            }
        }
        try await expectNoBackends(of: database)
    }

    @Test("A query that outlasts the grace of closing is cut off")
    func impatientClosing() async throws {
        let database = try TestDatabase()
        try await withPool(database.connectionString) { pool in
            let bound = LoopBound(pool, loop: pool.loop)
            _ = try await pool.query("SELECT 1")
            try await withBlocker(database, pool.loop, lock: 12) { _ in
                let running = Task(executorPreference: pool.loop) {
                    await code {
                        try await bound.value.query(Self.waitForLock, [.int8(12)])
                    }
                }
                try await waitUntil { pool.statistics.busyConnections == 1 }
                await pool.close(grace: .milliseconds(50))
                #expect(await running.value == .closed)
            }
        }
    }

    private static let waitForLock = PreparedStatement(
        "SELECT pg_advisory_xact_lock($1)", parameters: [.int8])
}

/// No session of the database is left, once those that were just closed have ended.
func expectNoBackends(of database: TestDatabase) async throws {
    let elsewhere = try database.cluster.connectionString(database: "postgres")
    let name = database.name
    try await onLoop { loop in
        let configuration = try PostgresConfiguration(conninfo: elsewhere)
        let observer = try await PostgresConnection.connect(configuration, loop: loop)
        try await waitUntil(
            observer,
            PostgresQuery(
                "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = $1)", [.text(name)]))
        await observer.close()
    }
}
