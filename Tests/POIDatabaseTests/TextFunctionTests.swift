import Foundation
import PrivateCluster
import Randomness
import Testing

@testable import POIDatabase

/// The fast functions of `Migrations/0102_create_text_functions.sql` against the same rules written plainly, in
/// `PlainTextFunctions.sql`: their results are stored, so both have to agree on every text.
@Suite("The text functions", .timeLimit(.minutes(5)))
struct TextFunctionTests {
    /// Every code point that a text may hold, a plane at a time: one statement for all would take too long.
    private static let planes = (0...16).map { plane in
        let bounds = "\(max(1, plane << 16)), \((plane << 16) + 0xFFFF)"
        return "(SELECT n, chr(n) AS c FROM generate_series(\(bounds)) AS n "
            + "WHERE n NOT BETWEEN 55296 AND 57343) AS given"
    }

    @Test(
        "The fast SQL function folds every code point as the plain rule does, alone and among its neighbours")
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

    @Test("The fast SQL function folds names of mixed scripts as the plain rule does")
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

    @Test("The fast check for a single line agrees with the plain rule, wherever a code point stands")
    func singleLines() async throws {
        let database = try databaseWithPlainFunctions()
        let differences = try await database.withSession { session in
            var differences = 0
            for plane in Self.planes {
                differences += try await session.value(
                    """
                    SELECT count(*) FROM \(plane)
                    CROSS JOIN LATERAL (VALUES (c), (c || 'b'), ('a' || c), ('a' || c || 'b')) AS made (line)
                    WHERE is_single_line(line, 3) IS DISTINCT FROM plain_is_single_line(line, 3)
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

    private func expectSameFolding(of sources: [String], names: [String]? = nil) async throws {
        let database = try databaseWithPlainFunctions()
        try await database.withSession { session in
            for source in sources {
                let rows = try await session.run(
                    """
                    SELECT name, search_text(name), plain_search_text(name) FROM (\(source)) AS given (name)
                    WHERE search_text(name) IS DISTINCT FROM plain_search_text(name) LIMIT 10
                    """, names.map { [.textArray($0)] } ?? [])
                for row in rows {
                    let name = try row.decode(String.self, at: 0).unicodeScalars
                    Issue.record(
                        "\(name.map { String($0.value, radix: 16) }): \(try row.decode(String.self, at: 1))")
                }
            }
        }
    }

    /// A database with the schema and the plain functions.
    private func databaseWithPlainFunctions() throws -> TestDatabase {
        let database = try MigratedDatabase.empty()
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "PlainTextFunctions.sql")
        try database.execute(String(contentsOf: file, encoding: .utf8))
        return database
    }
}
