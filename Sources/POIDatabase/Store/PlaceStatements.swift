import Postgres

/// The SQL that reads places; see `Documentation/queries.md` for what each statement costs.
enum PlaceStatements {
    /// The places nearest to a centre by the chord, with all columns: `$1` latitude and `$2` longitude, float8, degrees.
    struct Nearest: Sendable {
        /// The maximum number of places that this statement serves.
        let maximumLimit: Int
        /// How many candidates it proposes.
        let candidateLimit: Int
        let statement: PreparedStatement

        init(maximumLimit: Int, candidateLimit: Int) {
            self.maximumLimit = maximumLimit
            self.candidateLimit = candidateLimit
            // The centre is a scalar subselect, computed once a query rather than once a row; so is the
            // dataset's version, which costs 3 µs of 105.
            statement = PreparedStatement(
                "SELECT id, latitude, longitude, " + texts + """
                     AS texts, geocentric <<->> (SELECT geocentric_point($1, $2)) AS chord, \
                    (SELECT version FROM dataset) AS dataset_version \
                    FROM locations ORDER BY chord LIMIT 
                    """ + SQL(integer: candidateLimit),
                parameters: [.float8, .float8])
        }
    }

    /// The limit is a literal, hence a statement for each class of limits: PostgreSQL plans a limit that is
    /// a parameter as a tenth of the table, and then not by the index (280 ms instead of 0.2 ms). A few
    /// candidates more than places prove nearly every page.
    static let nearest = [8, 20, 50, 100].map { Nearest(maximumLimit: $0, candidateLimit: $0 + 4) }

    /// The statement that serves a page, and those before it, with the fewest candidates.
    static func nearest(limit: Int) -> Nearest? {
        nearest.first { limit <= $0.maximumLimit }
    }

    /// The places with the ids `$1` (bigint[]), in no order; where there is none, a row that is null except for the
    /// dataset's version.
    static let byID = PreparedStatement(
        "SELECT place.id, place.latitude, place.longitude, " + texts + """
             AS texts, NULL::double precision AS chord, dataset.version AS dataset_version \
            FROM (SELECT (SELECT version FROM dataset) AS version) AS dataset \
            LEFT JOIN locations AS place ON place.id = ANY ($1)
            """,
        parameters: [.int8Array])

    /// The positions of the places with the ids `$1` (bigint[]), in no order.
    static let positions = PreparedStatement(
        "SELECT id, latitude, longitude FROM locations WHERE id = ANY ($1)", parameters: [.int8Array])

    /// So many places within 8 m are a crowd.
    static let crowdCount = 256

    /// How many places are in the smallest cube around latitude `$1` and longitude `$2`, float8, degrees; at most
    /// `crowdCount`. The key is a scalar subselect: if the planner knew that it is frequent, it would read the table.
    static let crowd = PreparedStatement(
        "SELECT count(*) FROM (SELECT FROM locations WHERE space_key = (SELECT space_key($1, $2)) LIMIT "
            + SQL(integer: crowdCount) + ") AS place",
        parameters: [.float8, .float8])

    /// The number of places of each category that there ever was.
    ///
    /// `count(name)` because no index has the names: by an index alone, counting reads each row of the table by itself
    /// where a vacuum hasn't marked the page, and the planner doesn't foresee that.
    static let categories = PreparedStatement(
        """
        SELECT categories.name, coalesce(counted.count, 0) AS count, (SELECT version FROM dataset) AS dataset_version \
        FROM categories LEFT JOIN (
            SELECT category, count(name) AS count FROM locations GROUP BY category
        ) AS counted ON counted.category = categories.name
        """)

    /// The number of places of each source dataset, with its license and credit; where no place has a source, a row that is
    /// null except for the dataset's version. A dataset that has no row of its own has the licenses of its places.
    static let attributions = PreparedStatement(
        """
        SELECT counted.dataset, coalesce(datasets.license, counted.license) AS license, datasets.credit, datasets.url, \
        counted.places, version.dataset_version
        FROM (SELECT (SELECT version FROM dataset) AS dataset_version) AS version LEFT JOIN (
            SELECT dataset, string_agg(license, ' AND ' ORDER BY license COLLATE "C") AS license,
                sum(places)::bigint AS places
            FROM (
                SELECT source_dataset AS dataset, source_license AS license, count(*) AS places
                FROM locations WHERE source_dataset IS NOT NULL GROUP BY source_dataset, source_license
            ) AS licensed GROUP BY dataset
        ) AS counted ON true LEFT JOIN datasets ON datasets.name = counted.dataset
        """)

    /// The dataset's version, and whether the database is a standby: read again and again.
    static let state = PreparedStatement("SELECT (SELECT version FROM dataset), pg_is_in_recovery()")

    /// The names of all categories, in one array.
    static let vocabulary = PreparedStatement("SELECT ARRAY(SELECT name FROM categories)")

    /// The columns of a place except its id and position.
    fileprivate static let columns: SQL =
        "name, category, featured, address, website, source_dataset, source_id, source_license"

    /// The same in one value, as `PlaceRecord.append` reads them: a column less is two hundred instructions less a row here, and
    /// joining them costs PostgreSQL no more than sending each.
    ///
    /// Each text but the name is behind a control character that says which it is; the one before the category says whether
    /// the place is featured. No text has control characters, by the table's checks.
    fileprivate static let texts: SQL = """
        name || CASE WHEN featured THEN chr(2) ELSE chr(1) END || category || coalesce(chr(3) || address, '') \
        || coalesce(chr(4) || website, '') \
        || coalesce(chr(5) || source_dataset || chr(6) || source_id || chr(7) || source_license, '')
        """
}

// MARK: - Cubes

/// Reads the places in cubes of space, up to `limit` of each, by the index that fits the filter.
///
/// `$1` and `$2` are the cubes' minimum and maximum keys (bigint[]). Where categories are asked for, `$3` and `$4` pair each
/// with both values of featured that may match (text[]; bigint[], 0 or 1).
///
/// Where the index holds places that are featured and others, a column tells them apart. A condition would be checked
/// inside the limit and read on for matches, but the cost of a cube is to be bounded whatever the filter.
struct CubeStatement: Hashable, Sendable {
    /// The index that is walked.
    enum Source: Hashable, Sendable, CaseIterable {
        case all, featured, categories
    }

    let source: Source
    let isLimited: Bool

    /// The maximum number of places in a cube that is read as a whole.
    static let limit = 128

    /// All statements that there are.
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

    /// One more than the limit, which tells that there are more. Without a limit, OFFSET 0 keeps PostgreSQL from joining the
    /// cubes with all places of a category.
    private var end: SQL { isLimited ? " LIMIT " + SQL(integer: Self.limit + 1) : " OFFSET 0" }

    /// Each names the order of its index, so that no other plan looks cheaper, even before the table is analysed.
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

// MARK: - Words

/// Finds places by the words of their names.
struct WordStatements: Sendable {
    /// If a word has at most so many places, all of them are read.
    let fewLimit: Int
    /// The places of the rarest word, if there are few.
    let few: PreparedStatement
    /// The places of the rarest word, however many there are.
    let every: PreparedStatement
    /// How many of the nearest places `nearby` looks at.
    let nearbyLimit: Int
    /// Those of the nearest places that match, with all columns.
    let nearby: PreparedStatement

    /// What the service works with.
    static let standard = WordStatements(fewLimit: 2000, probeLimit: 10_000, nearbyLimit: 512)

    /// Makes statements; tests take limits that small data reach.
    ///
    /// - Parameter probeLimit: up to so many entries of each word are counted to find the rarest of several.
    init(fewLimit: Int, probeLimit: Int, nearbyLimit: Int) {
        self.fewLimit = fewLimit
        self.nearbyLimit = nearbyLimit
        few = Self.list(probing: fewLimit, onlyFew: true)
        every = Self.list(probing: probeLimit, onlyFew: false)
        nearby = Self.nearby(nearbyLimit)
    }

    /// The entries whose words begin with a table's: no word is longer than 600 characters, so none of them comes behind
    /// 601 times the last character.
    private static func isInRange(of table: SQL) -> SQL {
        "word >= " + table + ".word AND word < " + table + ".word || repeat(U&'\\+10FFFF', 601)"
    }

    /// The ids and keys of all places with the rarest of the words `$1` (text[]), each of which begins one of the name's,
    /// that match `$2` to `$4` (see `PlaceFilter.matchParameters`): one row, with the number of entries of that word, at
    /// most `limit` + 1.
    private static func list(probing limit: Int, onlyFew: Bool) -> PreparedStatement {
        let probe = SQL(integer: limit + 1)
        let count: SQL =
            "(SELECT count(*) FROM (SELECT FROM location_words WHERE " + isInRange(of: "asked")
            + " ORDER BY location_words.word LIMIT " + probe + ") AS probe)"
        // A single word is the rarest, and needn't be counted unless there have to be few.
        let size: SQL = onlyFew ? count : "CASE WHEN cardinality($1) > 1 THEN " + count + " ELSE 0 END"
        let entries: SQL =
            "SELECT location_id, space_key FROM location_words AS entry WHERE " + isInRange(of: "rarest")
            + (onlyFew ? " AND rarest.size < " + probe : "") + """
                 AND ($3 IS NULL OR featured = $3) AND ($4 IS NULL OR category = ANY ($4)) \
                AND CASE WHEN folded_name IS NOT NULL THEN folded_name LIKE ALL ($2) ELSE (SELECT \
                locations.folded_name LIKE ALL ($2) FROM locations WHERE id = location_id) END \
                ORDER BY word, location_id OFFSET 0
                """
        let sql: SQL =
            "WITH asked AS MATERIALIZED (SELECT word, " + size + " AS size FROM unnest($1) AS asked (word)), "
            + "rarest AS MATERIALIZED (SELECT word, size FROM asked ORDER BY size, length(word) DESC LIMIT 1) "
            + "SELECT rarest.size, found.ids, found.keys FROM rarest CROSS JOIN LATERAL ("
            + "SELECT array_agg(location_id) AS ids, array_agg(space_key) AS keys FROM (" + entries
            + ") AS entry) AS found"
        return PreparedStatement(sql, parameters: [.textArray, .textArray, .bool, .textArray])
    }

    /// Of the places nearest to `$1` latitude and `$2` longitude those that match `$3` to `$5`, with the columns of
    /// `PlaceStatements.nearest`; how many places were looked at; the chord, the latitude and the longitude of the last of
    /// them; and how many are as far as that one. At least one row.
    private static func nearby(_ limit: Int) -> PreparedStatement {
        let places: SQL =
            "SELECT id, latitude, longitude, " + PlaceStatements.columns
            + ", folded_name, geocentric <<->> (SELECT geocentric_point($1, $2)) AS chord FROM locations "
            + "ORDER BY chord LIMIT " + SQL(integer: limit)
        let last: SQL = "SELECT latitude, longitude, chord FROM place ORDER BY chord DESC LIMIT 1"
        let sql: SQL =
            "WITH place AS MATERIALIZED (" + places + "), last AS MATERIALIZED (" + last
            + ") SELECT match.id, match.latitude, match.longitude, " + PlaceStatements.texts + """
                 AS texts, match.chord, (SELECT version FROM dataset) AS dataset_version, (SELECT count(*) FROM place), \
                (SELECT chord FROM last), (SELECT latitude FROM last), (SELECT longitude FROM last), \
                (SELECT count(*) FROM place, last WHERE place.chord >= last.chord - 1e-6) \
                FROM (SELECT) AS row LEFT JOIN place AS match ON match.folded_name LIKE ALL ($3) \
                AND ($4 IS NULL OR match.featured = $4) AND ($5 IS NULL OR match.category = ANY ($5))
                """
        return PreparedStatement(sql, parameters: [.float8, .float8, .textArray, .bool, .textArray])
    }
}
