import Locking
import EventLoop
import Foundation
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase
@testable import POIService

/// `poi maintain`, by what it does to the table of places.
@Suite("The maintenance of places", .timeLimit(.minutes(5)))
struct PlaceMaintenanceTests {
    private static let placeCount = 20_000
    /// How many of them others write to meanwhile, which takes those out of order again.
    private static let addressCount = 200
    private static let inOrder = "nothing to do: the places are in spatial order, or too few for it to matter"

    /// Places in 130 km around San José, the same in every run, in no order.
    private static func shuffled() throws -> TestDatabase {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO locations (name, category, latitude, longitude)
            SELECT 'Place ' || number, 'park',
                37.3293 + (mod(number * 0.61803398875, 1)::float8 - 0.5) * 1.2,
                -121.8893 + (mod(number * 0.75487766625, 1)::float8 - 0.5) * 1.6
            FROM generate_series(1, \(placeCount)) AS number ORDER BY md5(number::text)
            """)
        try database.execute("VACUUM ANALYZE locations, location_words")
        return database
    }

    /// Runs it off the pool, since it blocks; returns its lines.
    private static func maintain(_ database: TestDatabase, isForced: Bool = false) async throws -> [String] {
        let maintenance = PlaceMaintenance(try database.configuration(), isForced: isForced)
        let lines = Lock<[String]>([])
        try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(
                    with: Result { try maintenance.run { line in lines.withLock { $0.append(line) } } })
            }
            .start()
        }
        return lines.withLock { $0 }
    }

    /// How many pages the nearest places of a centre are read from, on average over a grid.
    private static func buffers(_ session: PostgresConnection) async throws -> Double {
        let statement = try #require(PlaceStatements.nearest(limit: 20)).statement
        let before = try await buffersSoFar(session)
        for row in 0..<10 {
            for column in 0..<10 {
                let center = (36.8 + Double(row) * 0.11, -122.6 + Double(column) * 0.15)
                _ = try await session.query(statement, [.float8(center.0), .float8(center.1)])
            }
        }
        return Double(try await buffersSoFar(session) - before) / 100
    }

    private static func buffersSoFar(_ session: PostgresConnection) async throws -> Int {
        try await session.run("SELECT pg_stat_force_next_flush()")
        return try await session.value(
            """
            SELECT (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::bigint
            FROM pg_statio_user_tables WHERE relname = 'locations'
            """)
    }

    private static func order(_ session: PostgresConnection) async throws -> Double? {
        try await session.query(SpatialOrder.sample).only().decode(Double?.self, at: 0)
    }

    @Test("Brings the pages of a nearest search down, while others read and write, and changes no place")
    func rewrite() async throws {
        let database = try Self.shuffled()
        let rows = """
            SELECT md5(string_agg(ROW(id, name, category, latitude, longitude, space_key)::text, ',' ORDER BY id))
            FROM locations
            """
        let words =
            "SELECT md5(string_agg(location_words::text, ',' ORDER BY word, location_id)) FROM location_words"
        try await database.withSessions(2) { sessions in
            let (before, order) = (try await Self.buffers(sessions[0]), try await Self.order(sessions[0]))
            #expect(before > 28)
            #expect(try #require(order) < 0.1)
            let content = try await (
                sessions[0].value(rows, as: String.self), sessions[0].value(words, as: String.self)
            )

            let isDone = Lock(false)
            async let lines = Self.maintain(database, isDone)
            let read = try await Self.readAndWrite(sessions, until: isDone)
            // A place that is locked for an update when its turn comes is left out.
            let line = try #require(await lines.first)
            let written = try #require(line.wholeMatch(of: /(\d+) places written in spatial order/)?.1)
            #expect((Self.placeCount - read...Self.placeCount).contains(try #require(Int(written))))
            #expect(read > 0)

            #expect(try await sessions[0].value(rows) == content.0)
            #expect(try await sessions[0].value(words) == content.1)
            #expect(
                try await sessions[0].value(
                    "SELECT count(*) FROM locations WHERE address IS NOT NULL", as: Int.self)
                    == min(read, Self.addressCount))
            let after = try await (Self.buffers(sessions[0]), Self.order(sessions[0]))
            #expect(after.0 < before * 0.8, "\(before) before")
            #expect(try #require(after.1) >= SpatialOrder.sufficientShare)
        }
        #expect(try await Self.maintain(database) == [Self.inOrder])
    }

    private static func maintain(_ database: TestDatabase, _ isDone: Lock<Bool>) async throws -> [String] {
        defer { isDone.withLock { $0 = true } }
        return try await maintain(database)
    }

    /// Reads what never changes, and gives one place after the other an address; returns how many have one.
    private static func readAndWrite(
        _ sessions: [PostgresConnection], until isDone: Lock<Bool>
    ) async throws -> Int {
        let nearest = """
            SELECT string_agg(id::text, ' ' ORDER BY id) FROM (SELECT id FROM locations
                ORDER BY geocentric <<->> (SELECT geocentric_point(37.3, -121.9)) LIMIT 24) AS near
            """
        let expected = try await sessions[0].value(nearest, as: String.self)
        var count = 0
        while !isDone.withLock({ $0 }) {
            #expect(try await sessions[0].value(nearest) == expected)
            count += 1
            let written = try await sessions[1].run(
                "UPDATE locations SET address = 'Street \(count)' WHERE id = 1 + \(count * 7919) % \(addressCount) RETURNING id"
            )
            #expect(written.count == 1)
        }
        return count
    }

    @Test("Moves places off pages that have room, as a vacuum leaves them")
    func holes() async throws {
        let database = try Self.shuffled()
        try database.execute("DELETE FROM locations WHERE id % 2 = 0")
        try database.execute("VACUUM ANALYZE locations")
        #expect(try await Self.maintain(database).count > 1)
        try await database.withSession { session in
            let order = try await Self.order(session)
            #expect(try #require(order) >= SpatialOrder.sufficientShare)
            #expect(
                try await session.value("SELECT count(*) FROM locations", as: Int.self) == Self.placeCount / 2
            )
        }
    }

    @Test("Leaves a place alone that somebody has locked, and waits for nobody while it writes")
    func lockedPlaces() async throws {
        let database = try Self.shuffled()
        try await database.withSessions(2) { sessions in
            try await sessions[0].run("BEGIN")
            try await sessions[0].run("SELECT FROM locations WHERE id % 100 = 0 FOR UPDATE")
            async let lines = Self.maintain(database)
            // Building an index again is what has to wait for the transaction's end.
            let isBuilding =
                """
                SELECT count(*) > 0 FROM pg_stat_activity
                WHERE query LIKE 'REINDEX%' AND state = 'active' AND datname = current_database()
                """
            while try await !sessions[1].value(isBuilding, as: Bool.self) { try Task.checkCancellation() }
            try await sessions[0].run("COMMIT")
            let first = try await lines.first
            #expect(first == "\(Self.placeCount * 99 / 100) places written in spatial order")
        }
    }

    @Test("Leaves what is in order and what is empty alone, unless it is forced")
    func order() async throws {
        let empty = try MigratedDatabase.empty()
        #expect(try await Self.maintain(empty) == [Self.inOrder])
        let database = try Self.shuffled()
        _ = try await Self.maintain(database)
        #expect(try await Self.maintain(database) == [Self.inOrder])
        #expect(try await Self.maintain(database, isForced: true).count > 1)
    }

    @Test("The store measures how near to spatial order the table is")
    func metric() async throws {
        for (database, range) in [(try Self.shuffled(), 0...0.1), (try MigratedDatabase.empty(), nil)] {
            try await database.withStore(orderInterval: 60) { store, session in
                // The watcher looks in its first turn.
                while store.dataset.datasetID == nil { try await session.run("SELECT 1") }
                while range != nil, store.dataset.spatialOrder == nil {
                    try Task.checkCancellation()
                    try await session.run("SELECT 1")
                }
                var snapshot = MetricsSnapshot()
                store.collectMetrics(into: &snapshot)
                #expect(
                    snapshot.families.keys.contains { $0.name == "poi_locations_order_ratio" }
                        == (range != nil))
                if let range, let order = store.dataset.spatialOrder { #expect(range.contains(order)) }
            }
        }
    }
}
