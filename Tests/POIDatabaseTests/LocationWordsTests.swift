import Foundation
import Places
import Postgres
import PrivateCluster
import Randomness
import Testing

@testable import POIDatabase

/// The table that searches of 0.2.0 read, until the roll-out is finished: see `Migrations/0105_create_location_words.sql`.
@Suite("The table of words", .timeLimit(.minutes(5)))
struct LocationWordsTests {
    private static let difference = """
        SELECT count(*) FROM (
            (TABLE location_words EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE location_words)
        ) AS difference
        """
    private static let expected = """
        CREATE TEMPORARY VIEW expected AS
        SELECT id AS location_id, space_key, featured, word, category,
            CASE WHEN folded_name LIKE ' % %' THEN CASE WHEN octet_length(folded_name) <= 1200 THEN folded_name END
                ELSE '' END AS folded_name
        FROM locations CROSS JOIN LATERAL string_to_table(trim(folded_name), ' ') AS word
        """
    private static let places = """
        INSERT INTO locations (name, category, latitude, longitude)
        SELECT 'Place ' || n || ' café', 'museum', n, -n FROM generate_series(1, 50) AS n
        """

    @Test(
        "The table of words follows every kind of write to places",
        arguments: [
            "UPDATE locations SET name = 'Other ' || id WHERE id % 3 = 0",
            "UPDATE locations SET latitude = -latitude, longitude = 7 WHERE id < 20",
            "UPDATE locations SET featured = NOT featured",
            "UPDATE locations SET category = 'park' WHERE id = 5",
            "UPDATE locations SET address = 'Elsewhere'", "UPDATE locations SET name = name",
            "UPDATE locations SET id = DEFAULT WHERE id < 10", "DELETE FROM locations WHERE id % 2 = 0",
            "TRUNCATE locations", "DELETE FROM locations",
            "INSERT INTO locations (name, category, latitude, longitude) VALUES ('d''Orsay', 'museum', 1, 1)",
            "COPY locations (name, category, latitude, longitude) FROM '/dev/null'",
            """
            INSERT INTO locations (name, category, latitude, longitude, source_dataset, source_id, source_license)
            VALUES ('One', 'museum', 1, 1, 'a', 'b', 'c'), ('Two', 'museum', 1, 1, 'a', 'd', 'c')
            ON CONFLICT (source_dataset, source_id) WHERE source_dataset IS NOT NULL DO UPDATE SET name = excluded.name
            """,
        ])
    func follows(statement: String) async throws {
        try await MigratedDatabase.unfinished().withSession { session in
            try await session.run(Self.expected)
            try await session.run(Self.places)
            #expect(try await session.value("SELECT count(*) FROM location_words", as: Int.self) == 150)
            #expect(try await session.value(Self.difference, as: Int.self) == 0)
            try await session.run(statement)
            #expect(try await session.value(Self.difference, as: Int.self) == 0)
        }
    }

    @Test("The words of a place that was written without a change of its name stay as they are")
    func unchanged() async throws {
        try await MigratedDatabase.unfinished().withSession { session in
            try await session.run(Self.places)
            let versions = "SELECT sum(xmin::text::bigint)::text FROM location_words"
            let before = try await session.value(versions, as: String.self)
            try await session.run("UPDATE locations SET address = 'Elsewhere', name = name")
            #expect(try await session.value(versions, as: String.self) == before)
        }
    }

    @Test("A role that writes places needs no right to the table of words, whatever its search_path")
    func leastPrivilege() async throws {
        let database = try MigratedDatabase.unfinished()
        let writer = "\(database.name)_words_writer"
        try database.execute(
            "CREATE ROLE \(writer); GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON locations TO \(writer)")
        try await database.withSession { session in
            try await session.run("SET ROLE \(writer)")
            try await session.run("SET search_path = ''")
            try await session.run(Self.places.replacing("INTO locations", with: "INTO public.locations"))
            try await session.run("UPDATE public.locations SET name = 'Changed' WHERE id = 1")
            try await session.run("DELETE FROM public.locations WHERE id = 2")
            let error = await #expect(throws: PostgresError.self) {
                try await session.run("DELETE FROM public.location_words")
            }
            #expect(error?.sqlState?.rawValue == "42501")
            try await session.run("RESET ROLE")
            try await session.run("RESET search_path")
            try await session.run(Self.expected)
            #expect(try await session.value(Self.difference, as: Int.self) == 0)
        }
    }

    @Test("The words of a name of any length fit into the table's index")
    func longNames() async throws {
        let database = try MigratedDatabase.unfinished()
        let names = ["㌖", "\u{1D160}", "\u{1F100}", "\u{FDFA}", "가", "ﬃ", "𠀀", "\u{10FFFF}"].map {
            String(repeating: $0, count: 200)
        }
        try await database.withSession { session in
            try await session.run(
                """
                INSERT INTO locations (name, category, latitude, longitude)
                SELECT name, 'museum', 0, 0 FROM unnest($1::text[]) AS given (name)
                """, [.textArray(names)])
            #expect(
                try await session.value("SELECT count(*) FROM location_words", as: Int.self) >= names.count)
        }
        try await database.withStore { store, _ in
            for name in names {
                let text = String(name.prefix(100))
                let page = try await store.places(
                    for: .init(center: .init(latitude: 0, longitude: 0), searchText: text))
                #expect(page.places.count == 1, "\(name.prefix(1))")
            }
        }
    }
}
