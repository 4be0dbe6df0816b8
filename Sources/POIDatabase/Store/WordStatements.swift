import Postgres

/// The SQL that finds places by the words of their names; see `Documentation/queries.md` for what each costs.
struct WordStatements: Sendable {
    /// A list of places is read without another thought where a word has at most so many.
    let fewLimit: Int
    /// The places of the rarest word, if those are few.
    let few: PreparedStatement
    /// The places of the rarest word, whatever their number.
    let every: PreparedStatement
    /// How many of the nearest places `nearby` looks at.
    let nearbyLimit: Int
    /// Those of the nearest places that match, whole.
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

    /// No word is longer than 600 characters, so none that begins with another comes behind this.
    private static let behindAll: SQL = "repeat(U&'\\+10FFFF', 601)"

    /// The ids and keys of all places with the rarest of the words `$1` (text[]), each of which begins one of the name's,
    /// that match `$2` to `$4` (see `PlaceFilter.matchParameters`): one row, with how many entries that word has, but no more than `limit` + 1.
    private static func list(probing limit: Int, onlyFew: Bool) -> PreparedStatement {
        let range: (SQL) -> SQL = { "word >= " + $0 + ".word AND word < " + $0 + ".word || " + behindAll }
        let probe = SQL(integer: limit + 1)
        return PreparedStatement(
            """
            WITH asked AS MATERIALIZED (SELECT word,
            """ + (onlyFew ? " " : " CASE WHEN cardinality($1) > 1 THEN ") + """
                (SELECT count(*) FROM (SELECT FROM location_words WHERE
                """ + " " + range("asked") + " ORDER BY location_words.word LIMIT " + probe + """
                    ) AS probe)
                    """ + (onlyFew ? "" : " ELSE 0 END") + """
                     AS size FROM unnest($1) AS asked (word)), \
                    rarest AS MATERIALIZED (SELECT word, size FROM asked ORDER BY size, length(word) DESC LIMIT 1) \
                    SELECT rarest.size, found.ids, found.keys FROM rarest CROSS JOIN LATERAL (\
                    SELECT array_agg(location_id) AS ids, array_agg(space_key) AS keys FROM (\
                    SELECT location_id, space_key FROM location_words AS entry WHERE
                    """ + " " + range("rarest") + (onlyFew ? " AND rarest.size < " + probe : "") + """
                     AND ($3 IS NULL OR featured = $3) AND ($4 IS NULL OR category = ANY ($4)) \
                    AND CASE WHEN folded_name IS NOT NULL THEN folded_name LIKE ALL ($2) ELSE (SELECT \
                    locations.folded_name LIKE ALL ($2) FROM locations WHERE id = location_id) END \
                    ORDER BY word, location_id OFFSET 0) AS entry) AS found
                    """,
            parameters: [.textArray, .textArray, .bool, .textArray])
    }

    /// Of the places nearest to `$1` latitude and `$2` longitude those that match `$3` to `$5`, with the columns of
    /// `PlaceStatements.nearest`; how many were looked at; of the last of them the chord, the latitude and the longitude;
    /// and how many are as far as that. A row at least.
    private static func nearby(_ limit: Int) -> PreparedStatement {
        PreparedStatement(
            "WITH place AS MATERIALIZED (SELECT id, latitude, longitude, " + PlaceStatements.columns + """
                , folded_name, geocentric <<->> (SELECT geocentric_point($1, $2)) AS chord FROM locations \
                ORDER BY chord LIMIT
                """ + " " + SQL(integer: limit) + """
                    ), last AS MATERIALIZED (SELECT latitude, longitude, chord FROM place ORDER BY chord DESC LIMIT 1) \
                    SELECT match.id, match.latitude, match.longitude,
                    """ + " " + PlaceStatements.columns + """
                    , match.chord, (SELECT id FROM dataset) AS dataset_id, (SELECT count(*) FROM place), \
                    (SELECT chord FROM last), (SELECT latitude FROM last), (SELECT longitude FROM last), \
                    (SELECT count(*) FROM place, last WHERE place.chord >= last.chord - 1e-6) \
                    FROM (SELECT) AS row LEFT JOIN place AS match ON match.folded_name LIKE ALL ($3) \
                    AND ($4 IS NULL OR match.featured = $4) AND ($5 IS NULL OR match.category = ANY ($5))
                    """,
            parameters: [.float8, .float8, .textArray, .bool, .textArray])
    }
}
