import Postgres

/// What lies in cubes of space: for each, up to `limit` places, by the index that fits the question.
///
/// `$1` and `$2` are the cubes' least and greatest keys (bigint[]). Where categories are asked for, `$3` and `$4` pair each
/// with both values of featured that may be (text[]; bigint[], 0 or 1).
///
/// Whether a place is featured is answered with it, where the index holds both kinds: a filter inside the limit would read
/// on for matches, and what a cube costs is bounded whatever the filter.
struct CubeStatement: Hashable, Sendable {
    /// The index that is walked.
    enum Source: Hashable, Sendable, CaseIterable {
        case all, featured, categories
    }

    let source: Source
    let isLimited: Bool

    /// How many places a cube may hold and be answered at once.
    static let limit = 128

    /// All that there are.
    static let all = Source.allCases.flatMap { source in
        [true, false].map { CubeStatement(source: source, isLimited: $0) }
    }

    /// The statement, the same at each call.
    var prepared: PreparedStatement? { Self.prepared[self] }

    private static let prepared = Dictionary(
        uniqueKeysWithValues: all.map { ($0, PreparedStatement($0.sql, parameters: $0.parameterTypes)) })

    private var parameterTypes: [PostgresType] {
        [.int8Array, .int8Array] + (source == .categories ? [.textArray, .int8Array] : [])
    }

    private var sql: SQL {
        """
        SELECT cube.number, place.id, place.latitude, place.longitude, place.featured \
        FROM unnest($1, $2) WITH ORDINALITY AS cube (least, greatest, number) CROSS JOIN LATERAL (
        """ + places + ") AS place"
    }

    /// One more than may be, which tells that there are more. Without a limit, OFFSET 0 keeps PostgreSQL from joining the
    /// cubes with all places of a category.
    private var end: SQL { isLimited ? " LIMIT " + SQL(integer: Self.limit + 1) : " OFFSET 0" }

    /// Each names the order of its index, so that no other way looks cheaper, even before the table is analysed.
    private var places: SQL {
        switch source {
        case .all:
            """
            SELECT id, latitude, longitude, featured FROM locations \
            WHERE space_key BETWEEN cube.least AND cube.greatest ORDER BY space_key
            """ + end
        case .featured:
            """
            SELECT id, latitude, longitude, true AS featured FROM locations \
            WHERE featured AND space_key BETWEEN cube.least AND cube.greatest ORDER BY space_key
            """ + end
        case .categories:
            """
            SELECT found.* FROM unnest($3, $4) AS kind (category, featured) CROSS JOIN LATERAL (\
            SELECT id, latitude, longitude, kind.featured = 1 AS featured FROM locations \
            WHERE category = kind.category AND featured = (kind.featured = 1) \
            AND space_key BETWEEN cube.least AND cube.greatest ORDER BY space_key
            """ + end + ") AS found" + end
        }
    }
}
