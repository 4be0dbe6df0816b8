import Foundation
import PrivateCluster
import Testing

@testable import POIDatabase

/// The fast check of `Migrations/0201_create_place_functions.sql` against the same rule written plainly.
@Suite("The check for a single line", .timeLimit(.minutes(5)))
struct SingleLineTests {
    /// Every code point that a text may hold, a plane at a time: one statement for all would take too long.
    private static let planes = (0...16).map { plane in
        let bounds = "\(max(1, plane << 16)), \((plane << 16) + 0xFFFF)"
        return "(SELECT n, chr(n) AS c FROM generate_series(\(bounds)) AS n "
            + "WHERE n NOT BETWEEN 55296 AND 57343) AS given"
    }

    private static let plainFunction = #"""
        CREATE FUNCTION plain_is_single_line(value text, max_characters integer) RETURNS boolean
        LANGUAGE sql
        IMMUTABLE
        PARALLEL SAFE
        RETURN char_length(value) BETWEEN 1 AND max_characters
            AND value COLLATE "C" !~ '[\u0001-\u001F\u007F-\u009F\u2028\u2029]'
            AND value COLLATE "C" !~ '^[\u0020\u00A0\u1680\u2000-\u200F\u202F\u205F\u2060\u3000\uFEFF]'
            AND value COLLATE "C" !~ '[\u0020\u00A0\u1680\u2000-\u200F\u202F\u205F\u2060\u3000\uFEFF]$';
        """#

    @Test("The fast check for a single line agrees with the plain rule, wherever a code point stands")
    func singleLines() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.plainFunction)
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
}
