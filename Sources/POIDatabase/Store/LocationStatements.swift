import Postgres

/// The SQL that finds places; `PostgresLocationStore` says when which is used.
///
/// Every statement answers the columns that `LocationRow` reads. Parameters: `$1` latitude and `$2`
/// longitude of the centre, float8, degrees.
enum LocationStatements {
    /// The places nearest to the centre by the chord, as many as `Nearest.candidateLimit`.
    struct Nearest: Sendable {
        /// The greatest number of places that a request may ask for and this statement serve.
        let greatestLimit: Int
        /// How many candidates it proposes.
        let candidateLimit: Int
        let statement: PreparedStatement

        init(greatestLimit: Int, candidateLimit: Int) {
            self.greatestLimit = greatestLimit
            self.candidateLimit = candidateLimit
            statement = PreparedStatement(
                columns + " ORDER BY chord LIMIT " + SQL(integer: candidateLimit),
                parameters: [.float8, .float8])
        }
    }

    /// The limit is a literal, hence a statement for each class of limits: PostgreSQL plans a limit that is
    /// a parameter as a tenth of the table, and then not by the index (280 ms instead of 0.2 ms). A few
    /// candidates more than places prove nearly every answer.
    /// A page's ranking asks for one place more than the page has.
    private static let nearest = [8, 20, 50, 100].map {
        Nearest(greatestLimit: $0 + 1, candidateLimit: $0 + 4)
    }

    /// The statement that serves a limit with the fewest candidates.
    static func nearest(limit: Int) -> Nearest? {
        nearest.first { limit <= $0.greatestLimit }
    }

    /// Enough candidates to prove most of the other answers: for crowds of equally far places, and for far
    /// centres, where chords and distances are less alike.
    static let manyNearest = Nearest(greatestLimit: 101, candidateLimit: 1000)

    /// All places that are at most `$4` metres (float8) far, which no place is whose chord is longer than
    /// `$3`; in no order.
    ///
    /// Seen from the other side of the Earth all chords are nearly as long, and a whole country may be within
    /// one: so PostgreSQL measures what it sends. `geog` is rounded, by less than the millimetre more.
    static let within = PreparedStatement(
        columns + """
             WHERE ST_3DDWithin(geocentric, (SELECT geocentric_point($1, $2)), $3) \
            AND ST_Distance(geog, (SELECT location_point($1, $2))) <= $4 + 0.001
            """,
        parameters: [.float8, .float8, .float8, .float8])

    /// The centre is a scalar subselect, computed once a query rather than once a row.
    private static let columns: SQL = """
        SELECT id, latitude, longitude, \
        geocentric <<->> (SELECT geocentric_point($1, $2)) AS chord, \
        name, category, featured, address, website, source_dataset, source_id, source_license \
        FROM locations
        """
}
