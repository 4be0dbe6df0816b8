import Locking
import EventLoop
import Postgres
import PrivateCluster
import Testing

/// Transactions that see one state of the data, each on a connection of a pool.
@Suite("Snapshots", .timeLimit(.minutes(2)))
struct SnapshotTests {
    private static let database = Result { try TestDatabase() }

    @Test(
        "Queries in a snapshot see the same data, whatever is committed meanwhile, and can't write"
    )
    func snapshots() async throws {
        let database = try TestDatabase()
        try database.execute("CREATE TABLE places (id int); INSERT INTO places VALUES (1)")
        let count = PreparedStatement("SELECT count(*) FROM places")
        try await withPool(database.connectionString, { $0.exclusiveConnections = 1 }) { pool in
            let counts = try await pool.withSnapshot(lane: .exclusive) { snapshot throws(PostgresError) in
                var counts = [try await snapshot.query(count).only().decode(Int.self, at: 0)]
                _ = try await pool.query(PreparedStatement("INSERT INTO places VALUES (2)"))
                counts.append(try await snapshot.query(count).only().decode(Int.self, at: 0))
                return counts
            }
            #expect(counts == [1, 1])
            let error = await #expect(throws: PostgresError.self) {
                try await pool.withSnapshot(lane: .exclusive) { snapshot throws(PostgresError) in
                    try await snapshot.query(PreparedStatement("INSERT INTO places VALUES (3)"))
                }
            }
            #expect(error?.sqlState?.rawValue == "25006")
            // Ended, each of them, and the connection is another's again.
            let state = try await pool.query(
                """
                SELECT (SELECT count(*) FROM places),
                    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL)
                """
            ).only()
            #expect(try state.decode(Int.self, at: 0) == 2)
            #expect(try state.decode(Int.self, at: 1) == 1)
        }
    }

    @Test("A snapshot's connection is its own until it ends")
    func exclusiveSnapshot() async throws {
        try await withPool(Self.database.get().connectionString, { $0.exclusiveConnections = 1 }) { pool in
            let bound = LoopBound(pool, loop: pool.loop)
            let isInTransaction = PreparedStatement(
                "SELECT current_setting('transaction_read_only') = 'on'")
            let other = try await pool.withSnapshot(lane: .exclusive) { snapshot throws(PostgresError) in
                let other = Task(executorPreference: bound.loop) {
                    try await bound.value.query(isInTransaction, lane: .exclusive)
                }
                while bound.value.statistics.exclusive.waiting == 0 { await Task.yield() }
                #expect(try await snapshot.query(isInTransaction).only().decode(Bool.self, at: 0))
                #expect(bound.value.statistics.exclusive.waiting == 1)
                return other
            }
            #expect(try await !other.value.only().decode(Bool.self, at: 0))
        }
    }

    @Test(
        "A statement of a snapshot whose request has no time left ends in the server, and the next one works")
    func overdueSnapshot() async throws {
        let database = try Self.database.get()
        try await withPool(database.connectionString, { $0.exclusiveConnections = 1 }) { pool in
            try await withBlocker(database, pool.loop, lock: 14) { blocker in
                let start = pool.loop.now
                let failure = await code {
                    try await pool.withSnapshot(
                        lane: .exclusive, deadline: pool.loop.now + .milliseconds(100)
                    ) { snapshot throws(PostgresError) in
                        try await snapshot.query(PreparedStatement("SELECT pg_advisory_lock(14)"))
                    }
                }
                #expect(failure == .queryTimedOut)
                #expect(pool.loop.now - start < .seconds(2))
                try await waitUntil(
                    blocker,
                    "SELECT NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 14)"
                )
                let one = PreparedStatement("SELECT 1")
                let count = try await pool.withSnapshot(lane: .exclusive) { snapshot throws(PostgresError) in
                    try await snapshot.query(one).count
                }
                #expect(count == 1)
            }
        }
    }

    @Test(
        "A snapshot whose connection is killed begins anew on another, once for each connection of the lane")
    func killedSnapshot() async throws {
        let database = try Self.database.get()
        try await withPool(database.connectionString, { $0.exclusiveConnections = 2 }) { pool in
            let end = PreparedStatement("SELECT pg_terminate_backend(pg_backend_pid())")
            let attempts = Lock(0)
            let failure = await code {
                try await pool.withSnapshot(lane: .exclusive) { snapshot throws(PostgresError) in
                    attempts.withLock { $0 += 1 }
                    return try await snapshot.query(end)
                }
            }
            #expect(failure == .connectionLost)
            #expect(attempts.withLock { $0 } == 3)
            let one = PreparedStatement("SELECT 1")
            let count = try await pool.withSnapshot(lane: .exclusive) { snapshot throws(PostgresError) in
                if attempts.withLock({
                    $0 += 1; return $0
                }) == 4 {
                    return try await snapshot.query(end).count
                }
                return try await snapshot.query(one).count
            }
            #expect(count == 1)
            try await waitUntil { pool.statistics.exclusive.inFlight == 0 }
        }
    }
}
