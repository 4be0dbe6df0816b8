import Locking
import EventLoop
import Foundation
import Postgres
import PrivateCluster
import Testing

/// The log whose newest row is the dataset's id: see `Migrations/0205_create_dataset_log.sql`.
@Suite("The dataset's log", .timeLimit(.minutes(5)))
struct DatasetLogTests {
    /// The cheapest transaction that renews the id.
    private static let renewal = "UPDATE locations SET featured = true WHERE false"
    private static let insertion = """
        INSERT INTO locations (name, category, latitude, longitude) VALUES ('A place', 'museum', 1, 2)
        """

    /// A block that renews the id so many times, each in a transaction of its own.
    private static func renewals(_ count: Int) -> String {
        "DO $$ BEGIN FOR n IN 1..\(count) LOOP \(renewal); COMMIT; END LOOP; END $$"
    }

    @Test("Reading the id takes a few pages, however much was committed while a snapshot is held")
    func readingCost() async throws {
        let database = try MigratedDatabase.empty()
        try await database.withSessions(2) { sessions in
            let (holder, reader) = (sessions[0], sessions[1])
            // The plan is made when there is the least to read, with statistics of that.
            try await reader.run("ANALYZE")
            try await reader.run("SET plan_cache_mode = force_generic_plan")
            try await reader.run("PREPARE current AS SELECT id FROM dataset")
            try await reader.run("EXECUTE current")
            try await holder.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
            try await holder.run("SELECT id FROM dataset")
            for _ in 0..<3 {
                try database.execute(Self.renewals(2000))
                let text = try await reader.value(
                    "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE current", as: String.self)
                let plan = try #require(
                    try JSONDecoder().decode([Explanation].self, from: Data(text.utf8)).first
                ).plan
                #expect(plan.hit + plan.read <= 8, "\(text)")
            }
            try await holder.run("COMMIT")
        }
    }

    @Test("A renewal costs as many pages as ever, however much was committed while a snapshot is held")
    func renewalCost() async throws {
        let database = try MigratedDatabase.empty()
        try await database.withSession { holder in
            let used = """
                SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::bigint
                FROM pg_statio_user_tables WHERE relname LIKE 'dataset%' AND relname <> 'dataset_incarnation'
                """
            let flush = "SELECT pg_stat_force_next_flush()"
            try await holder.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
            try await holder.run("SELECT id FROM dataset")
            // One session, whose plans are as old as it is.
            let output = try database.execute(
                """
                \(Self.renewals(100)); \(Self.renewals(6000)); \(flush); \(used);
                \(Self.renewals(200)); \(flush); \(used)
                """)
            let counts = output.split(separator: "\n").compactMap { Int($0) }
            try #require(counts.count == 2, "\(output)")
            #expect(counts[1] - counts[0] < 200 * 25, "\(Double(counts[1] - counts[0]) / 200) pages each")
            try await holder.run("COMMIT")
        }
    }

    @Test("About ten thousand revisions are kept, even if the transactions that would prune are rolled back")
    func pruning() throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            DO $$ BEGIN FOR n IN 1..14000 LOOP
                \(Self.renewal);
                IF (SELECT last_value FROM dataset_log_revision_seq) % 200 = 99 THEN
                    SET CONSTRAINTS ALL IMMEDIATE;
                    ROLLBACK;
                ELSE
                    COMMIT;
                END IF;
            END LOOP; END $$
            """)
        let age = try database.execute("SELECT max(revision) - min(revision) FROM dataset_log")
        #expect((10_000...10_300).contains(try #require(Int(age))))
        let rolledBack = "SELECT count(*) FROM dataset_log WHERE revision % 200 = 100"
        #expect(try database.execute(rolledBack) == "0")
    }

    @Test(
        "Writers under REPEATABLE READ and SERIALIZABLE that touch different places don't fail for one another"
    )
    func isolatedWriters() async throws {
        for level in ["REPEATABLE READ", "SERIALIZABLE"] {
            let database = try MigratedDatabase.empty()
            try database.execute("\(Self.insertion); \(Self.insertion)")
            try await database.withSessions(2) { sessions in
                for (number, session) in sessions.enumerated() {
                    try await session.run("SET enable_seqscan = off")
                    try await session.run("BEGIN ISOLATION LEVEL \(level)")
                    try await session.run("UPDATE locations SET name = 'B' WHERE id = \(number + 1)")
                }
                // More than a pruning's worth of others.
                try database.execute(Self.renewals(250))
                for session in sessions { try await session.run("COMMIT") }
                let names = "SELECT count(*) FROM locations WHERE name = 'B'"
                #expect(try await sessions[0].value(names, as: Int.self) == 2, "\(level)")
            }
        }
    }

    @Test(
        "A savepoint that is rolled back undoes its renewal, and other writers don't wait for the transaction"
    )
    func savepoint() async throws {
        let database = try MigratedDatabase.empty()
        try await database.withSessions(2) { sessions in
            try await sessions[1].run("SET statement_timeout = '30s'")
            let revisions = "SELECT count(*) FROM dataset_log"
            let before = try await sessions[1].value(revisions, as: Int.self)
            try await sessions[0].run("BEGIN")
            try await sessions[0].run("SAVEPOINT s")
            try await sessions[0].run(Self.insertion)
            try await sessions[0].run("SET CONSTRAINTS ALL IMMEDIATE")
            try await sessions[0].run("ROLLBACK TO s")
            try await sessions[1].run(Self.insertion)
            try await sessions[0].run("COMMIT")
            #expect(try await sessions[1].value(revisions, as: Int.self) == before + 1)
        }
    }

    @Test(
        "Thirty-two writers of one place, of many and of whole datasets end in no deadlock, and each commit has its revision"
    )
    func manyWriters() async throws {
        let database = try MigratedDatabase.empty()
        let first = try database.execute("SELECT last_value FROM dataset_log_revision_seq")
        let rounds = 8
        async let imports: Void = withThrowingTaskGroup(of: Void.self) { group in
            for dataset in 0..<4 {
                group.addTask {
                    for round in 0..<rounds {
                        _ = try await database.importPlaces(
                            (0..<50).map { "\($0),\(dataset) \(round),cafe,\($0),\(dataset)" }
                        ) { $1.dataset.name = "set \(dataset)" }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await database.withSessions(28) { sessions in
            let bound = sessions.map { LoopBound($0, loop: $0.loop) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, session) in bound.enumerated() {
                    group.addTask(executorPreference: session.loop) {
                        for _ in 0..<rounds { try await Self.write(number, session.value) }
                    }
                }
                try await group.waitForAll()
            }
        }
        try await imports
        let last = try database.execute("SELECT last_value FROM dataset_log_revision_seq")
        #expect(try #require(Int(last)) - #require(Int(first)) == 32 * rounds)
    }

    /// A transaction of one place, or one of several statements, of a writer's own.
    private static func write(_ number: Int, _ session: PostgresConnection) async throws {
        let row =
            "INSERT INTO locations (name, category, latitude, longitude) SELECT 'w\(number)', 'cafe', 1, 1"
        guard number % 2 == 0 else { return _ = try await session.run(row) }
        try await session.run("BEGIN")
        try await session.run(row + " FROM generate_series(1, 20)")
        try await session.run("INSERT INTO categories (name) VALUES ('bar') ON CONFLICT DO NOTHING")
        try await session.run("UPDATE locations SET featured = NOT featured WHERE name = 'w\(number)'")
        try await session.run("COMMIT")
    }

    @Test("Readers see revisions in their order, and no id twice, whatever writers do at once")
    func order() async throws {
        let seed = UInt64.random(in: 0..<1000)
        try await MigratedDatabase.empty().withSessions(5) { sessions in
            let watch = RevisionWatch(reader: sessions[0])
            let writers = sessions.dropFirst().map { LoopBound($0, loop: $0.loop) }
            let (writing, seenCount) = (Lock(writers.count), Lock(0))
            for (number, writer) in writers.enumerated() {
                let script = Self.restlessWriter(seed: Double(seed) / 1000 - Double(number) / 10)
                Task(executorPreference: writer.loop) {
                    await #expect(throws: Never.self, "seed \(seed)") {
                        repeat { try await writer.value.run(script) } while seenCount.withLock { $0 } <= 100
                    }
                    writing.withLock { $0 -= 1 }
                }
            }
            while writing.withLock({ $0 }) > 0 {
                try await watch.look(seed)
                seenCount.withLock { $0 = watch.ids.count }
            }
            try await watch.look(seed)
            #expect(watch.ids.count > 100, "seed \(seed)")
        }
    }

    /// Transactions that renew the id at commit or before, in savepoints or not, and some that are rolled back, with
    /// random pauses.
    private static func restlessWriter(seed: Double) -> String {
        """
        DO $$ BEGIN
            PERFORM setseed(\(seed));
            FOR n IN 1..150 LOOP
                \(renewal);
                PERFORM pg_sleep(random() * 0.002);
                IF random() < 0.3 THEN
                    SET CONSTRAINTS ALL IMMEDIATE;
                    PERFORM pg_sleep(random() * 0.002);
                    SET CONSTRAINTS ALL DEFERRED;
                    IF random() < 0.5 THEN \(renewal); END IF;
                END IF;
                IF random() < 0.2 THEN ROLLBACK; ELSE COMMIT; END IF;
            END LOOP;
        END $$
        """
    }
}

/// Looks at the log again and again, and expects that it only grows at its end.
///
/// Confined to the session's loop.
private final class RevisionWatch {
    private let reader: PostgresConnection
    /// The ids that were current, in their order.
    private(set) var ids: [String] = []
    private var (maxRevision, count): (Int64, Int64) = (0, 0)

    init(reader: PostgresConnection) {
        self.reader = reader
    }

    func look(_ seed: UInt64) async throws {
        let row = try await reader.run(
            """
            SELECT (SELECT id::text FROM dataset), max(revision), count(*),
                count(*) FILTER (WHERE revision <= $1)
            FROM dataset_log
            """, [.int8(maxRevision)]
        ).only()
        // No writer of this test comes so far that something would be pruned.
        if maxRevision > 0 {
            #expect(
                try row.decode(Int64.self, at: 3) == count,
                "before revision \(maxRevision) came another; seed \(seed)")
        }
        let id = try row.decode(String.self, at: 0)
        if id != ids.last {
            #expect(!ids.contains(id), "seed \(seed)")
            #expect(try row.decode(Int64.self, at: 1) > maxRevision, "seed \(seed)")
            ids.append(id)
        }
        (maxRevision, count) = (try row.decode(at: 1), try row.decode(at: 2))
    }
}

/// What `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)` says of a statement.
struct Explanation: Decodable {
    struct Plan: Decodable {
        let cost: Double
        let hit: Int
        let read: Int
        enum CodingKeys: String, CodingKey {
            case cost = "Total Cost"
            case hit = "Shared Hit Blocks"
            case read = "Shared Read Blocks"
        }
    }
    let plan: Plan
    enum CodingKeys: String, CodingKey { case plan = "Plan" }
}
