import Foundation
import PrivateCluster
import Randomness
import Testing

@testable import POIDatabase

/// The functions that `Migrations/0017_quicken_text_functions.sql` replaces: what is stored was computed by the former
/// ones, so both have to agree on every text.
@Suite("The quickened text functions", .timeLimit(.minutes(5)))
struct TextFunctionTests {
    /// Every code point that a text may hold, a plane at a time: one statement for all would take too long.
    private static let planes = (0...16).map { plane in
        let bounds = "\(max(1, plane << 16)), \((plane << 16) + 0xFFFF)"
        return "(SELECT n, chr(n) AS c FROM generate_series(\(bounds)) AS n "
            + "WHERE n NOT BETWEEN 55296 AND 57343) AS given"
    }

    @Test("Fold every code point as before, alone and among its neighbours")
    func foldingOfCodePoints() async throws {
        // Letters with case are in the first two planes.
        let alone = Self.planes.prefix(2).map { "SELECT c FROM \($0)" }
        try await expectSameFolding(
            of: alone
                + Self.planes.map {
                    "SELECT string_agg(c || CASE WHEN n % 5 = 0 THEN ' Y' ELSE '' END, '' ORDER BY n) "
                        + "FROM \($0) GROUP BY n / 16"
                })
    }

    @Test("Fold names of mixed scripts as before")
    func foldingOfNames() async throws {
        // Small and capital letters, marks and separators of all scripts with case, and of some without.
        try await expectSameFolding(
            of: [
                """
                WITH given AS (
                    SELECT array_agg(chr(n)) AS c FROM generate_series(32, 126) AS n
                    UNION ALL SELECT array_agg(chr(n)) FROM generate_series(160, 591) AS n
                    UNION ALL SELECT array_agg(chr(n)) FROM generate_series(768, 879) AS n
                    UNION ALL SELECT array_agg(chr(n)) FROM generate_series(880, 1423) AS n
                    UNION ALL SELECT array_agg(chr(n)) FROM generate_series(1424, 2431) AS n
                    UNION ALL SELECT array_agg(chr(n)) FROM generate_series(4256, 4351) AS n
                    UNION ALL SELECT array_agg(chr(n)) FROM generate_series(7680, 8303) AS n
                    UNION ALL SELECT array_agg(chr(n)) FROM generate_series(12288, 12543) AS n
                    UNION ALL SELECT array_agg(chr(n)) FROM generate_series(66560, 66655) AS n
                    UNION ALL SELECT ARRAY[' ', '  ', ' ', '''', E'\\u2019', '-', E'\\u00DF', E'\\u00E6']
                ), numbered AS (SELECT row_number() OVER () AS script, c FROM given),
                drawn AS (
                    SELECT name, c[1 + floor(random() * cardinality(c))::integer] AS c
                    FROM generate_series(1, 20000) AS name CROSS JOIN generate_series(1, 12) AS place
                    -- Each name has two scripts, and the separators.
                    JOIN numbered ON script = CASE place % 4 WHEN 3 THEN 10 WHEN 0 THEN 1 + name % 9
                        ELSE 1 + name / 9 % 9 END
                )
                SELECT string_agg(c, '') FROM drawn GROUP BY name
                """
            ])
        var generator = SeededGenerator()
        let names = (0..<1000).map { _ in PlaceNames.random(using: &generator) }
        try await expectSameFolding(of: ["SELECT * FROM unnest($1::text[])"], names: names)
    }

    @Test("Tell a single line as before, whatever code point it begins with, has or ends with")
    func singleLines() async throws {
        let database = try await database(with: "is_single_line", of: "0003_create_locations.sql")
        let differences = try await database.withSession { session in
            var differences = 0
            for plane in Self.planes {
                differences += try await session.value(
                    """
                    SELECT count(*) FROM \(plane)
                    CROSS JOIN LATERAL (VALUES (c), (c || 'b'), ('a' || c), ('a' || c || 'b')) AS made (line)
                    WHERE is_single_line(line, 3) IS DISTINCT FROM former_is_single_line(line, 3)
                    """, as: Int.self)
            }
            return differences
        }
        #expect(differences == 0)
        #expect(
            try database.execute(
                """
                SELECT is_single_line(NULL, 3), is_single_line('', 3), is_single_line('abcd', 3),
                    is_single_line('abc', 3), is_single_line('abc', NULL), is_single_line(E'a\\n', 3)
                """) == "|f|f|t||f")
    }

    @Test("Are the former ones again after the way down")
    func down() throws {
        let database = try MigratedDatabase.empty()
        try database.migrate(.down(to: "0014"))
        let file = try text(of: "0007_create_search_functions.sql")
        let source = try database.execute("SELECT prosrc FROM pg_proc WHERE proname = 'search_text'")
        #expect(source.contains("translate("))
        #expect(file.contains(source.trimmingCharacters(in: .newlines)))
        let made = try self.database(from: database, with: "is_single_line", of: "0003_create_locations.sql")
        let definition = "SELECT pg_get_function_sqlbody(oid) FROM pg_proc WHERE proname = "
        #expect(
            try made.execute(definition + "'is_single_line'")
                == made.execute(definition + "'former_is_single_line'"))
    }

    private func expectSameFolding(of sources: [String], names: [String]? = nil) async throws {
        let database = try await database(with: "search_text", of: "0007_create_search_functions.sql")
        try await database.withSession { session in
            for source in sources {
                let rows = try await session.run(
                    """
                    SELECT name, search_text(name), former_search_text(name) FROM (\(source)) AS given (name)
                    WHERE search_text(name) IS DISTINCT FROM former_search_text(name) LIMIT 10
                    """, names.map { [.textArray($0)] } ?? [])
                for row in rows {
                    let name = try row.decode(String.self, at: 0).unicodeScalars
                    Issue.record(
                        "\(name.map { String($0.value, radix: 16) }): \(try row.decode(String.self, at: 1))")
                }
            }
        }
    }

    /// A database that has a function as a migration created it, too, its name behind `former_`.
    private func database(with function: String, of file: String) async throws -> TestDatabase {
        try database(from: MigratedDatabase.empty(), with: function, of: file)
    }

    private func database(
        from database: TestDatabase, with function: String, of file: String
    ) throws -> TestDatabase {
        let text = try text(of: file)
        let start = try #require(text.range(of: "CREATE FUNCTION \(function)("))
        let end = try #require(text.range(of: ";\n\n", range: start.upperBound..<text.endIndex))
        try database.execute(
            "CREATE FUNCTION former_\(function)(" + text[start.upperBound..<end.lowerBound])
        return database
    }

    private func text(of file: String) throws -> String {
        try String(contentsOfFile: MigratedDatabase.migrationsPath + "/" + file, encoding: .utf8)
    }
}
