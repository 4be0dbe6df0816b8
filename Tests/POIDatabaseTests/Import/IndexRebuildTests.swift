import Locking
import Loopback
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase

/// What `poi import` does for the index that finds the nearest places.
@Suite("The rebuilding of the index", .timeLimit(.minutes(5)))
struct IndexRebuildTests {
    /// So many places that their index is worth rebuilding.
    private static let count = 20_000

    private static func places(named name: String) -> [String] {
        (0..<count).map { "\($0),\(name) \($0),cafe,\(Double($0 % 140) - 70),\(Double($0 / 140) / 2)" }
    }

    /// A database whose index is worth rebuilding, since all of its places have changed.
    private static func databaseWithLargeIndex() async throws -> TestDatabase {
        let database = try MigratedDatabase.empty()
        _ = try await database.importPlaces(places(named: "A"))
        try database.execute("UPDATE locations SET name = name || 'x'")
        try database.execute("VACUUM (ANALYZE) locations")
        return database
    }

    private static let size = "SELECT pg_relation_size('locations_geocentric_idx')"
    private static let file = "SELECT pg_relation_filenode('locations_geocentric_idx')::bigint"
    private static let invalid = """
        SELECT count(*) FROM pg_index WHERE indrelid = 'locations'::regclass AND NOT indisvalid
        """
    private static let nearest = """
        SELECT id FROM locations ORDER BY geocentric <<->> (SELECT geocentric_point(10, 10)) LIMIT 5
        """

    @Test(
        "An import that changes all places leaves an index as small as a new one, and readers and writers go on"
    )
    func changed() async throws {
        let database = try MigratedDatabase.empty()
        let lines = Lock<[String]>([])
        var observers = DatasetImport.Observers()
        observers.onLine = { line in lines.withLock { $0.append(line) } }
        _ = try await database.importPlaces(Self.places(named: "A"), observers: observers)
        let file = try database.execute(Self.file)
        // As small as it gets: many new places alone are no reason.
        #expect(lines.withLock(\.self).isEmpty)

        async let changed = database.importPlaces(Self.places(named: "B"), observers: observers)
        try await database.withSession { session in
            // Whoever had to wait for the rebuilding would fail.
            try await session.run("SET lock_timeout = '1s'")
            try await session.run("INSERT INTO categories (name) VALUES ('pub') ON CONFLICT DO NOTHING")
            while try await session.value(Self.file, as: Int64.self) == Int64(file) {
                try Task.checkCancellation()
                #expect(try await session.query(PostgresQuery(SQL(unsafeSQL: Self.nearest))).count == 5)
                try await session.run(
                    "INSERT INTO locations (name, category, latitude, longitude) VALUES ('New', 'pub', 1, 1)")
            }
        }
        #expect(try await changed.changed == Self.count)
        #expect(lines.withLock { $0.count } == 1)
        #expect(lines.withLock { $0.first ?? "" }.hasPrefix("locations_geocentric_idx was rebuilt: "))
        #expect(try database.execute(Self.invalid) == "0")

        let size = try #require(Int(try database.execute(Self.size)))
        try database.execute("REINDEX INDEX locations_geocentric_idx")
        let smallest = try #require(Int(try database.execute(Self.size)))
        #expect(size <= smallest + smallest / 10)

        // What isn't too large stays as it is.
        let rebuilt = try database.execute(Self.file)
        _ = try await database.importPlaces(Array(Self.places(named: "C").prefix(100)))
        #expect(try database.execute(Self.file) == rebuilt)
    }

    @Test(
        "What a killed rebuild has left behind is removed by the next import, even by one that changes nothing",
        arguments: [
            // Others that a rebuild waits for: at first for those who write, at the end for all.
            "UPDATE locations SET featured = true WHERE source_id = '1'", "SELECT FROM locations",
        ])
    func killed(others: String) async throws {
        let database = try MigratedDatabase.empty()
        let rows = ["1,A,cafe,1,1", "2,B,cafe,2,2"]
        _ = try await database.importPlaces(rows)
        try await database.withSessions(2) { sessions in
            let (other, control) = (sessions[0], sessions[1])
            try await other.run("BEGIN")
            try await other.run(others)
            async let rebuild = Result {
                try await offPool {
                    try database.execute("REINDEX INDEX CONCURRENTLY locations_geocentric_idx")
                }
            }
            let waits = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'REINDEX%'
                AND wait_event_type = 'Lock'
                """
            while try await control.value(waits, as: Int64.self) == 0 { try Task.checkCancellation() }
            try await control.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND query LIKE 'REINDEX%'
                """)
            let outcome = await rebuild
            #expect(throws: (any Error).self) { try outcome.get() }
            #expect(try await control.value(Self.invalid, as: Int64.self) == 1)
            try await other.run("ROLLBACK")
        }
        #expect(try await database.importPlaces(rows).unchanged == 2)
        #expect(try database.execute(Self.invalid) == "0")
    }

    @Test("A rebuild that others keep from going on is given up, says so, and the next one does it")
    func blocked() async throws {
        let database = try await Self.databaseWithLargeIndex()
        let lines = Lock<[String]>([])
        try await database.withSessions(2) { sessions in
            let (other, session) = (sessions[0], sessions[1])
            try await other.run("BEGIN")
            try await other.run("SELECT FROM locations")
            var rebuild = IndexRebuild(connection: session) { line in lines.withLock { $0.append(line) } }
            rebuild.lockTimeout = "'10ms'"
            await rebuild.run()
            #expect(
                lines.withLock(\.self) == [
                    "the import is in the database; what is left is REINDEX INDEX CONCURRENTLY "
                        + "locations_geocentric_idx (canceling statement due to lock timeout)"
                ])
            try await other.run("ROLLBACK")
            await rebuild.run()
            #expect(try await session.value(Self.invalid, as: Int64.self) == 0)
        }
        #expect(lines.withLock { $0.count } <= 2)
    }

    @Test("A role that doesn't own the table learns what is left to do, and changes nothing")
    func notOwner() async throws {
        let database = try await Self.databaseWithLargeIndex()
        let file = try database.execute(Self.file)
        let lines = Lock<[String]>([])
        try await database.withSession { session in
            try await session.run("SET ROLE pg_read_all_data")
            await IndexRebuild(connection: session) { line in lines.withLock { $0.append(line) } }.run()
        }
        #expect(
            lines.withLock { $0.first ?? "" }.hasSuffix("(must be owner of index locations_geocentric_idx)"))
        #expect(try database.execute(Self.file) == file)
    }
}
