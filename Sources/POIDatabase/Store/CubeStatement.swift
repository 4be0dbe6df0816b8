import Postgres

/// What lies in cubes of space: for each, up to `limit` places, by the index that fits the question.
///
/// `$1` and `$2` are the cubes' least and greatest keys (bigint[]). Where categories are asked for, `$3` and
/// `$4` pair each with both values of featured that may be (text[]; bigint[], 0 or 1). Where words are, the last three
/// are the patterns (text[]), what featured must be and what the category must be among, if anything (boolean
/// and text[]).
///
/// Places that are in the index's range and don't match are answered as such, so that what a cube costs is
/// bounded whatever the filter: a filter inside the limit would read on for matches.
struct CubeStatement: Hashable, Sendable {
    /// The index that is walked.
    enum Source: Hashable, Sendable, CaseIterable {
        case all, featured, categories
    }

    /// What is checked of each place beside that.
    enum Check: Hashable, Sendable, CaseIterable {
        case none, notFeatured, words
    }

    let source: Source
    let check: Check
    let isLimited: Bool

    /// How many places a cube may hold and be answered at once.
    static let limit = 128

    /// The statement, the same at each call.
    var prepared: PreparedStatement? { Self.all[self] }

    private static let all: [CubeStatement: PreparedStatement] = {
        var statements: [CubeStatement: PreparedStatement] = [:]
        for source in Source.allCases {
            for check in Check.allCases {
                for isLimited in [true, false] {
                    let shape = CubeStatement(source: source, check: check, isLimited: isLimited)
                    statements[shape] = PreparedStatement(shape.sql, parameters: shape.parameterTypes)
                }
            }
        }
        return statements
    }()

    private var parameterTypes: [PostgresType] {
        [.int8Array, .int8Array] + (source == .categories ? [.textArray, .int8Array] : [])
            + (check == .words ? [.textArray, .bool, .textArray] : [])
    }

    private var sql: SQL {
        """
        SELECT cube.number, place.id, place.latitude, place.longitude, place.matches, dataset.id \
        FROM (SELECT (SELECT id FROM dataset) AS id) AS dataset \
        CROSS JOIN unnest($1, $2) WITH ORDINALITY AS cube (least, greatest, number) \
        LEFT JOIN LATERAL (
        """ + places + ") AS place ON true"
    }

    /// One more than may be, which tells that there are more.
    private var limitClause: SQL { isLimited ? " LIMIT " + SQL(integer: Self.limit + 1) : "" }

    private var places: SQL {
        let found =
            "SELECT id, latitude, longitude, " + condition
            + " AS matches FROM locations WHERE space_key BETWEEN cube.least AND cube.greatest"
        switch source {
        case .all: return found + limitClause
        case .featured: return found + " AND featured" + limitClause
        case .categories:
            return "SELECT found.* FROM unnest($3, $4) AS kind (category, featured) CROSS JOIN LATERAL ("
                + found + " AND category = kind.category AND featured = (kind.featured = 1)" + limitClause
                + ") AS found" + limitClause
        }
    }

    private var condition: SQL {
        switch (check, source) {
        case (.none, _): "true"
        case (.notFeatured, _): "NOT featured"
        case (.words, .categories):
            "search_text(name) LIKE ALL ($5) AND ($6 IS NULL OR featured = $6) AND ($7 IS NULL OR category = ANY ($7))"
        case (.words, _):
            "search_text(name) LIKE ALL ($3) AND ($4 IS NULL OR featured = $4) AND ($5 IS NULL OR category = ANY ($5))"
        }
    }
}
