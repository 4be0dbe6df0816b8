import Postgres

/// The SQL that reads places; see `Documentation/queries.md` for what each costs.
enum PlaceStatements {
    /// The places nearest to a centre by the chord, whole: `$1` latitude and `$2` longitude, float8, degrees.
    struct Nearest: Sendable {
        /// The greatest number of places that this statement serves.
        let maximumLimit: Int
        /// How many candidates it proposes.
        let candidateLimit: Int
        let statement: PreparedStatement

        init(maximumLimit: Int, candidateLimit: Int) {
            self.maximumLimit = maximumLimit
            self.candidateLimit = candidateLimit
            // The centre is a scalar subselect, computed once a query rather than once a row; so is the
            // dataset's id, which costs 3 µs of 105.
            statement = PreparedStatement(
                "SELECT id, latitude, longitude, " + columns + """
                    , geocentric <<->> (SELECT geocentric_point($1, $2)) AS chord, \
                    (SELECT id FROM dataset) AS dataset_id \
                    FROM locations ORDER BY chord LIMIT 
                    """ + SQL(integer: candidateLimit),
                parameters: [.float8, .float8])
        }
    }

    /// The limit is a literal, hence a statement for each class of limits: PostgreSQL plans a limit that is
    /// a parameter as a tenth of the table, and then not by the index (280 ms instead of 0.2 ms). A few
    /// candidates more than places prove nearly every answer.
    static let nearest = [8, 20, 50, 100].map { Nearest(maximumLimit: $0, candidateLimit: $0 + 4) }

    /// The statement that serves a page, and those before it, with the fewest candidates.
    static func nearest(limit: Int) -> Nearest? {
        nearest.first { limit <= $0.maximumLimit }
    }

    /// The places with the ids `$1` (bigint[]), in no order; a row of nulls, but for the dataset's id, where
    /// there is none.
    static let byID = PreparedStatement(
        "SELECT place.id, place.latitude, place.longitude, " + columns + """
            , NULL::double precision AS chord, dataset.id AS dataset_id \
            FROM (SELECT (SELECT id FROM dataset) AS id) AS dataset \
            LEFT JOIN locations AS place ON place.id = ANY ($1)
            """,
        parameters: [.int8Array])

    /// The positions of the places with the ids `$1` (bigint[]), in no order.
    static let positions = PreparedStatement(
        "SELECT id, latitude, longitude FROM locations WHERE id = ANY ($1)", parameters: [.int8Array])

    /// The number of places of each category that there ever was.
    ///
    /// `count(name)` because no index has the names: by an index alone, counting reads each row of the table by itself
    /// where a vacuum hasn't marked the page, and the planner doesn't see that coming.
    static let categories = PreparedStatement(
        """
        SELECT categories.name, coalesce(counted.count, 0) AS count, (SELECT id FROM dataset) AS dataset_id \
        FROM categories LEFT JOIN (
            SELECT category, count(name) AS count FROM locations GROUP BY category
        ) AS counted ON counted.category = categories.name
        """)

    /// What vouches for the data, and whether the database is a standby: asked for again and again.
    static let state = PreparedStatement("SELECT (SELECT id FROM dataset), pg_is_in_recovery()")

    /// The names of all categories, in one array.
    static let vocabulary = PreparedStatement("SELECT ARRAY(SELECT name FROM categories)")

    /// The columns of a place, but for its id and position.
    static let columns: SQL =
        "name, category, featured, address, website, source_dataset, source_id, source_license"
}
