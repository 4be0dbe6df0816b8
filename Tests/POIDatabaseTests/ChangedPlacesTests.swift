import EventLoop
import Locking
import Postgres
import PrivateCluster
import Testing

/// The places that the log of datasets names with each revision: see `Migrations/0205_create_dataset_log.sql`.
@Suite("The places of a revision", .timeLimit(.minutes(5)))
struct ChangedPlacesTests {
    /// Inserts so many places, whose source ids count from 1.
    static func insertion(_ count: Int) -> String {
        """
        INSERT INTO locations (name, category, latitude, longitude, source_dataset, source_id, source_license)
        SELECT 'Place', 'museum', 1, 2, 'test', n, 'CC0-1.0' FROM generate_series(1, \(count)) AS n
        """
    }

    /// Ids as `newest` lists them.
    private static func list(_ ranges: [ClosedRange<Int>]) -> String {
        ranges.joined().map(String.init).joined(separator: " ")
    }

    /// The ids of the newest revision: `null`, or those that it has, in order.
    private static let newest = """
        SELECT coalesce((SELECT string_agg(id::text, ' ' ORDER BY id) FROM unnest(place_ids) AS id),
            CASE WHEN place_ids IS NULL THEN 'null' ELSE '' END)
        FROM dataset_log ORDER BY revision DESC LIMIT 1
        """

    @Test(
        "A revision lists the places that the transaction's statements inserted, changed or deleted",
        arguments: [
            (
                ["INSERT INTO locations (name, category, latitude, longitude) VALUES ('A', 'museum', 1, 2)"],
                "51"
            ),
            (["UPDATE locations SET featured = true WHERE id IN (3, 5)"], "3 5"),
            (["DELETE FROM locations WHERE id < 4"], "1 2 3"),
            (["UPDATE locations SET featured = true WHERE false"], ""),
            (["INSERT INTO categories VALUES ('new_kind')"], ""),
            (["TRUNCATE locations"], "null"),
            (["UPDATE locations SET id = DEFAULT WHERE id = 7"], "7 51"),
            (
                [
                    "UPDATE locations SET featured = true WHERE id = 8",
                    "UPDATE locations SET id = DEFAULT WHERE id IN (7, 9)",
                ], "7 8 9 51 52"
            ),
            (["UPDATE locations SET id = DEFAULT WHERE id <= 40"], list([1...40, 51...90])),
            (
                [
                    "DELETE FROM locations WHERE id = 50",
                    "UPDATE locations SET featured = true WHERE id <= 40",
                ], list([1...40, 50...50])
            ),
            // An upsert that inserts one place and changes another.
            (
                [
                    """
                    INSERT INTO locations
                        (name, category, latitude, longitude, source_dataset, source_id, source_license)
                    SELECT 'Other', 'museum', 1, 2, 'test', n, 'CC0-1.0' FROM unnest(ARRAY[2, 60]) AS n
                    ON CONFLICT (source_dataset, source_id) WHERE source_dataset IS NOT NULL
                    DO UPDATE SET name = excluded.name
                    """
                ], "2 52"
            ),
            (
                [
                    "UPDATE locations SET featured = true WHERE id IN (3, 5)",
                    "DELETE FROM locations WHERE id = 5",
                    "INSERT INTO categories VALUES ('new_kind')",
                    "UPDATE locations SET name = 'B' WHERE id = 4",
                ], "3 4 5"
            ),
            (["DELETE FROM locations WHERE id = 5", "TRUNCATE locations"], "null"),
            (["TRUNCATE locations", "SAVEPOINT s", insertion(1)], "null"),
            (
                [
                    "SAVEPOINT s", "DELETE FROM locations WHERE id = 1", "ROLLBACK TO s",
                    "DELETE FROM locations WHERE id = 2", "SAVEPOINT t", "TRUNCATE locations",
                    "ROLLBACK TO t",
                    "SAVEPOINT u", "DELETE FROM locations WHERE id = 3", "RELEASE u",
                ], "2 3"
            ),
            // A large statement that changes two places only, one of them by the sign of a zero.
            (
                [
                    """
                    UPDATE locations SET name = CASE WHEN id = 40 THEN 'B' ELSE name END,
                        longitude = CASE WHEN id = 41 THEN -0.0::double precision ELSE longitude END
                    """
                ], "40 41"
            ),
        ])
    func statements(_ statements: [String], _ expected: String) throws {
        let database = try MigratedDatabase.empty()
        try database.execute("\(Self.insertion(50)); UPDATE locations SET longitude = 0 WHERE id = 41")
        try database.execute((["BEGIN"] + statements + ["COMMIT"]).joined(separator: ";"))
        #expect(try database.execute(Self.newest) == expected)
        let kept =
            "SELECT (SELECT count(*) FROM dataset_changes) + (SELECT count(*) FROM dataset_further_changes)"
        #expect(try database.execute(kept) == "0")
    }

    @Test("A revision lists up to 10,000 places, whether one statement wrote them or several")
    func limit() throws {
        let database = try MigratedDatabase.empty()
        let count =
            "SELECT coalesce(cardinality(place_ids), -1) FROM dataset_log ORDER BY revision DESC LIMIT 1"
        try database.execute(Self.insertion(10_000))
        #expect(try database.execute(count) == "10000")
        try database.execute("UPDATE locations SET name = 'B'")
        #expect(try database.execute(count) == "10000")
        try database.execute(
            "INSERT INTO locations (name, category, latitude, longitude) VALUES ('A', 'museum', 1, 2)")
        try database.execute("UPDATE locations SET name = 'C'")
        #expect(try database.execute(count) == "-1")
        try database.execute(
            "BEGIN; DELETE FROM locations WHERE id <= 5000; DELETE FROM locations WHERE id > 5000; COMMIT")
        #expect(try database.execute(count) == "-1")
    }

    @Test("A transaction that renews the id before its commit gets a revision and a list for each part")
    func immediateConstraints() throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.insertion(5))
        try database.execute(
            """
            BEGIN; DELETE FROM locations WHERE id = 1; SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED;
            DELETE FROM locations WHERE id = 2; DELETE FROM locations WHERE id = 3; COMMIT
            """)
        let lists = """
            SELECT string_agg(place_ids::text, ' ' ORDER BY revision)
            FROM (SELECT * FROM dataset_log ORDER BY revision DESC LIMIT 2) AS last
            """
        #expect(try database.execute(lists) == "{1} {2,3}")
    }

    @Test("A role that may only insert places gets the same list in its revision")
    func leastPrivilege() async throws {
        let database = try MigratedDatabase.empty()
        let writer = "\(database.name)_inserter"
        try database.execute("CREATE ROLE \(writer); GRANT INSERT ON locations TO \(writer)")
        try await database.withSession { session in
            try await session.run("SET ROLE \(writer)")
            try await session.run(
                "INSERT INTO locations (name, category, latitude, longitude) VALUES ('A', 'museum', 1, 2)")
            for forbidden in [
                "SELECT place_ids FROM dataset_log", "DELETE FROM dataset_further_changes",
                "SELECT id FROM dataset", "INSERT INTO dataset_changes DEFAULT VALUES",
                "DELETE FROM dataset_log", "SELECT pg_catalog.nextval('dataset_log_revision_seq')",
                "REFRESH MATERIALIZED VIEW dataset_incarnation", "SELECT mark_dataset_change()",
                "SELECT renew_dataset()", "SELECT refuse_chosen_ids()",
                "SELECT record_written_places()", "SELECT record_updated_places()",
                "SELECT record_truncated_places()", "SELECT record_renumbered_place()",
            ] {
                let error = await #expect(throws: PostgresError.self, "\(forbidden)") {
                    try await session.run(forbidden)
                }
                #expect(error?.sqlState?.rawValue == "42501", "\(forbidden)")
            }
            try await session.run("RESET ROLE")
            #expect(try await session.value(Self.newest, as: String.self) == "1")
        }
    }

    @Test(
        "A writer whose search_path has other tables, functions and operators first, or nothing, gets the same list"
    )
    func searchPath() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.insertion(50))
        try database.execute(
            """
            CREATE SCHEMA other;
            CREATE TABLE other.dataset_changes (place_ids bigint[], transaction_id integer PRIMARY KEY DEFAULT 1);
            CREATE FUNCTION other.compare(integer, integer) RETURNS boolean LANGUAGE sql RETURN 1 / 0 = 1;
            CREATE FUNCTION other.compare(bigint, bigint) RETURNS boolean LANGUAGE sql RETURN 1 / 0 = 1;
            CREATE OPERATOR other.<= (FUNCTION = other.compare, LEFTARG = integer, RIGHTARG = integer);
            CREATE OPERATOR other.> (FUNCTION = other.compare, LEFTARG = integer, RIGHTARG = integer);
            CREATE OPERATOR other.= (FUNCTION = other.compare, LEFTARG = bigint, RIGHTARG = bigint);
            CREATE FUNCTION other.cardinality(bigint[]) RETURNS integer LANGUAGE sql RETURN 1 / 0;
            CREATE FUNCTION other.record_further_places(bigint[]) RETURNS integer LANGUAGE sql RETURN 1 / 0
            """)
        try await database.withSession { session in
            try await session.run("CREATE TEMPORARY TABLE new_locations (id bigint)")
            try await session.run("CREATE TEMPORARY TABLE written_locations (id bigint)")
            try await session.run("CREATE TEMPORARY TABLE dataset (id uuid)")
            try await session.run("SET search_path = other, pg_temp, pg_catalog, public")
            for (statements, expected) in [
                (["UPDATE locations SET featured = true WHERE id = 3"], "3"),
                (["DELETE FROM locations WHERE id = 4", "DELETE FROM locations WHERE id = 3"], "3 4"),
                (
                    ["UPDATE locations SET name = 'B'", "UPDATE locations SET name = 'C' WHERE id = 50"],
                    Self.list([1...2, 5...50])
                ),
            ] {
                for statement in ["BEGIN"] + statements + ["COMMIT"] { try await session.run(statement) }
                #expect(try database.execute(Self.newest) == expected)
            }
            try await session.run("SET search_path = ''")
            try await session.run("UPDATE public.locations SET featured = true WHERE id = 7")
            #expect(try database.execute(Self.newest) == "7")
        }
    }

    @Test("Long lists are deleted after a thousand revisions, short ones together with their revision")
    func forgetting() throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.insertion(10_000))
        let renewals = """
            DO $$ BEGIN FOR n IN 1..1400 LOOP
                UPDATE locations SET featured = NOT featured WHERE id = 1; COMMIT;
            END LOOP; END $$
            """
        try database.execute(renewals)
        let lists = """
            SELECT count(*) FILTER (WHERE cardinality(place_ids) = 1), count(*) FILTER (WHERE cardinality(place_ids) > 1)
            FROM dataset_log
            """
        #expect(try database.execute(lists) == "1400|0")
    }

    @Test("The revisions between two snapshots list every place in which the snapshots differ")
    func completeness() async throws {
        let seed = UInt64.random(in: 0..<1000)
        let database = try MigratedDatabase.empty()
        try database.execute(Self.insertion(300))
        try await database.withSessions(4) { sessions in
            let follower = ReplayingReader(reader: sessions[0])
            try await follower.look(seed)
            let writers = sessions.dropFirst().map { LoopBound($0, loop: $0.loop) }
            let writing = Lock(writers.count)
            for (number, writer) in writers.enumerated() {
                let script = Self.restlessWriter(seed: Double(seed) / 1000 - Double(number) / 10, number)
                Task(executorPreference: writer.loop) {
                    await #expect(throws: Never.self, "seed \(seed)") { try await writer.value.run(script) }
                    writing.withLock { $0 -= 1 }
                }
            }
            while writing.withLock({ $0 }) > 0 { try await follower.look(seed) }
            try await follower.look(seed)
            #expect(follower.lookCount > 2, "seed \(seed)")
        }
    }

    /// Transactions of one to three statements, some in savepoints, with random pauses; each writer has places of its own,
    /// so that none waits for another's.
    private static func restlessWriter(seed: Double, _ number: Int) -> String {
        """
        DO $$ DECLARE place bigint; BEGIN
            PERFORM setseed(\(seed));
            FOR n IN 1..150 LOOP
                place := \(number) + 3 * floor(random() * 100)::bigint;
                UPDATE locations SET name = 'B' || n WHERE id = place;
                PERFORM pg_sleep(random() * 0.002);
                IF random() < 0.3 THEN
                    BEGIN
                        DELETE FROM locations WHERE id = place;
                        IF random() < 0.5 THEN RAISE EXCEPTION 'rolled back'; END IF;
                    EXCEPTION WHEN raise_exception THEN
                        INSERT INTO locations (name, category, latitude, longitude) VALUES ('New', 'bar', 1, 2);
                    END;
                END IF;
                IF random() < 0.2 THEN ROLLBACK; ELSE COMMIT; END IF;
            END LOOP;
        END $$
        """
    }
}

/// Replays the log on a copy of the table, and compares the copy with the table.
///
/// Confined to the session's loop.
private final class ReplayingReader {
    private let reader: PostgresConnection
    private var places: [Int64: String] = [:]
    private var revision: Int64?
    private(set) var lookCount = 0

    init(reader: PostgresConnection) {
        self.reader = reader
    }

    func look(_ seed: UInt64) async throws {
        try await reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        var now: [Int64: String] = [:]
        for row in try await reader.run("SELECT id, locations::text FROM locations") {
            now[try row.decode(at: 0)] = try row.decode(at: 1)
        }
        if let revision {
            let changed = try await reader.run(
                "SELECT DISTINCT unnest(place_ids) FROM dataset_log WHERE revision > $1", [.int8(revision)])
            for row in changed {
                let id: Int64 = try row.decode(at: 0)
                places[id] = now[id]
            }
            #expect(places == now, "seed \(seed)")
        }
        places = now
        revision = try await reader.value("SELECT max(revision) FROM dataset_log")
        try await reader.run("COMMIT")
        lookCount += 1
    }
}
