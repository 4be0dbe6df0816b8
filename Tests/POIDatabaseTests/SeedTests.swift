import PrivateCluster
import Testing

/// What `Migrations/Seeds` bring, in a database that has nothing else.
@Suite("The seeds", .timeLimit(.minutes(5)))
struct SeedTests {
    private let database: TestDatabase

    init() throws {
        database = try MigratedDatabase.seeded()
    }

    @Test(
        "Each seed has about as many places as intended",
        arguments: [("poi-seed-san-jose", 140...170), ("poi-seed-world", 50...70)])
    func counts(dataset: String, expected: ClosedRange<Int>) throws {
        let count = try database.execute(
            "SELECT count(*) FROM locations WHERE source_dataset = '\(dataset)'")
        #expect(expected.contains(try #require(Int(count))), "\(count)")
    }

    @Test("A new database has only places of the seeds, and at least a dozen are featured")
    func featured() throws {
        let others = "SELECT count(*) FROM locations WHERE source_dataset NOT LIKE 'poi-seed-%' IS NOT FALSE"
        #expect(try database.execute(others) == "0")
        let featured = try database.execute("SELECT count(*) FROM locations WHERE featured")
        #expect(try #require(Int(featured)) >= 12)
    }

    @Test("No place is in the seeds twice")
    func duplicates() throws {
        let twins = try database.execute(
            """
            SELECT one.name, one.source_id, other.source_id
            FROM locations AS one
            JOIN locations AS other ON one.id < other.id AND lower(one.name) = lower(other.name)
                AND ST_3DDWithin(one.geocentric, other.geocentric, 50)
            """)
        #expect(twins == "")
    }

    @Test("Every place of the San José seed is in or near San José")
    func vicinity() throws {
        let astray = try database.execute(
            """
            SELECT source_id FROM locations
            WHERE source_dataset = 'poi-seed-san-jose'
                AND NOT ST_3DDWithin(geocentric, geocentric_point(37.3293, -121.8893), 15000)
            """)
        #expect(astray == "")
    }

    @Test("The seeds' places are written in spatial order")
    func spatialOrder() throws {
        let misplaced = try database.execute(
            """
            SELECT source_id FROM (
                SELECT source_id, place, lag(place) OVER (PARTITION BY source_dataset ORDER BY id) AS previous
                FROM locations CROSS JOIN LATERAL location_point(latitude, longitude) AS place
            ) AS step
            WHERE place < previous
            """)
        #expect(misplaced == "")
        // A row that just fits may fill up an earlier page, so the heap's order is never quite perfect.
        let disorder = try database.execute(
            """
            SELECT source_dataset FROM (
                SELECT source_dataset,
                    row_number() OVER (PARTITION BY source_dataset ORDER BY location_point(latitude, longitude), id) AS in_space,
                    row_number() OVER (PARTITION BY source_dataset ORDER BY ctid) AS in_heap
                FROM locations
            ) AS rank
            GROUP BY source_dataset
            HAVING corr(in_space, in_heap) < 0.9
            """)
        #expect(disorder == "")
    }

    @Test("Undoing the seeds' migrations removes their places and leaves the schema")
    func undo() throws {
        try database.migrate(.down(to: "0106"))
        #expect(try database.execute("SELECT count(*) FROM locations") == "0")
        #expect(try database.execute("SELECT max(version) FROM schema_migrations") == "0106")
    }
}
