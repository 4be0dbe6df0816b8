import Foundation
import Migrator
import Testing

@testable import POIDatabase
@testable import PrivateCluster

/// The real migrations as a whole.
@Suite("The migrations", .timeLimit(.minutes(5)))
struct MigrationTests {
    @Test("The program was built with the repository's migrations, all of them and no others")
    func builtIn() throws {
        let files = try MigrationDirectory(path: MigratedDatabase.migrationsPath).files
        for (kind, recorded) in [
            (MigrationFile.Kind.schema, BuiltInMigrations.schema), (.seed, BuiltInMigrations.seeds),
        ] {
            #expect(
                files.filter { $0.kind == kind }.map { "\($0.name) \($0.checksum)" }
                    == recorded.map { "\($0.key) \($0.value)" },
                "scripts/record/record-migrations records them anew")
        }
    }

    @Test(
        "Down as often as there are migrations removes everything that the migrations made, and up again makes the same"
    )
    func downAndUp() throws {
        let database = try TestDatabase()
        // It stays, since it may have been there before.
        try database.execute("CREATE EXTENSION postgis")
        let nothing = try catalog(of: database)
        try database.migrate(.up, seeds: true)
        let everything = try catalog(of: database)
        #expect(everything.count > nothing.count)
        for _ in try MigratedDatabase.directory().files { try database.migrate(.down) }
        #expect(try catalog(of: database) == nothing)
        try database.migrate(.up, seeds: true)
        #expect(try catalog(of: database) == everything)
    }

    /// Everything in the database that no extension has brought, but for the record of migrations.
    private func catalog(of database: TestDatabase) throws -> Set<CatalogEntry> {
        let objects = try database.execute(
            """
            SELECT object.type || ' ' || object.identity, translate(definition, E'\n', ' ')
            FROM (
                SELECT 'pg_class'::regclass, oid, relacl::text FROM pg_class WHERE relkind <> 't'
                UNION ALL SELECT 'pg_proc'::regclass, oid, pg_get_functiondef(oid) FROM pg_proc WHERE prokind = 'f'
                UNION ALL SELECT 'pg_type'::regclass, oid, NULL FROM pg_type
                UNION ALL SELECT 'pg_trigger'::regclass, oid, pg_get_triggerdef(oid) FROM pg_trigger
                    WHERE NOT tgisinternal
                UNION ALL SELECT 'pg_constraint'::regclass, oid, pg_get_constraintdef(oid) FROM pg_constraint
                UNION ALL SELECT 'pg_attrdef'::regclass, oid, pg_get_expr(adbin, adrelid) FROM pg_attrdef
                UNION ALL SELECT 'pg_namespace'::regclass, oid, nspacl::text FROM pg_namespace
                UNION ALL SELECT 'pg_extension'::regclass, oid, extversion FROM pg_extension
            ) AS found (catalog, oid, definition)
            CROSS JOIN LATERAL pg_identify_object(catalog, oid, 0) AS object
            WHERE coalesce(object.schema, 'public') = 'public'
                AND object.identity NOT LIKE '%schema_migrations%'
                AND object.identity NOT LIKE 'pg\\_%'
            """)
        return Set(objects.split(separator: "\n").map(CatalogEntry.init))
    }

    @Test("A dump brings everything back, and what is restored takes writes")
    func dumpAndRestore() throws {
        let original = try MigratedDatabase.seeded()
        let copy = try TestDatabase()
        try copy.cluster.restore(try original.cluster.dump(database: original.name), database: copy.name)

        let rows = """
            SELECT (SELECT md5(string_agg(dataset_log::text, ',' ORDER BY revision)) FROM dataset_log),
                (SELECT md5(string_agg(locations::text, ',' ORDER BY id)) FROM locations),
                (SELECT md5(string_agg(name, ',' ORDER BY name)) FROM categories)
            """
        #expect(try copy.execute(rows) == original.execute(rows))
        let write = """
            INSERT INTO locations (name, category, latitude, longitude) VALUES ('New', 'museum', 1, 2);
            SELECT max(id), (SELECT id FROM dataset) FROM locations
            """
        let written = try (original.execute(write), copy.execute(write))
        let ids = (written.0.split(separator: "|"), written.1.split(separator: "|"))
        #expect(ids.0.first == ids.1.first)
        #expect(ids.0.last != ids.1.last)
        #expect(try Set(catalog(of: copy).map(\.identity)) == Set(catalog(of: original).map(\.identity)))
        try copy.migrate(.up, seeds: true)
    }
}

/// What the catalog says of a table, a function, a trigger, ….
private struct CatalogEntry: Hashable {
    /// Its kind and its name.
    let identity: Substring
    /// What makes it up. A dump writes the same with other parentheses.
    let definition: Substring

    init(line: Substring) {
        identity = line.prefix { $0 != "|" }
        definition = line.dropFirst(identity.count)
    }
}

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
                AND ST_DWithin(one.position, other.position, 50)
            """)
        #expect(twins == "")
    }

    @Test("Every place of the San José seed is in or near San José")
    func vicinity() throws {
        let astray = try database.execute(
            """
            SELECT source_id FROM locations
            WHERE source_dataset = 'poi-seed-san-jose'
                AND NOT ST_DWithin(position, location_point(37.3293, -121.8893), 15000)
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
                -- What is updated is moved.
                WHERE properties IS NULL
            ) AS rank
            GROUP BY source_dataset
            HAVING corr(in_space, in_heap) < 0.9
            """)
        #expect(disorder == "")
    }

    @Test("Undoing the seeds' migrations removes their places and leaves the schema")
    func undo() throws {
        let others = try database.execute(
            "SELECT count(*) FROM schema_migrations WHERE version > '\(BuiltInMigrations.seeds.map(\.key).max()?.prefix(4) ?? "")'"
        )
        for _ in 0..<BuiltInMigrations.seeds.count + (Int(others) ?? 0) { try database.migrate(.down) }
        #expect(try database.execute("SELECT count(*) FROM locations") == "0")
        #expect(try database.execute("SELECT max(version) FROM schema_migrations") == "0206")
    }
}
