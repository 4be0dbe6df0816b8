import Postgres

/// The places that have a word that begins so: `$1` the beginnings (text[]).
///
/// Read from the index alone. The bound above is longer than any word: names have 200 characters at most, and
/// U+10FFFF is the greatest there is.
enum WordStatements {
    /// How many places of a word are looked at, at first and at last.
    static let (fewLimit, manyLimit) = (2000, 20_000)

    static let few = statement(limit: fewLimit)
    static let many = statement(limit: manyLimit)

    private static func statement(limit: Int) -> PreparedStatement {
        PreparedStatement(
            """
            SELECT asked.number, found.location_id, found.latitude, found.longitude, found.category, \
            found.featured, dataset.id \
            FROM (SELECT (SELECT id FROM dataset) AS id) AS dataset \
            CROSS JOIN unnest($1) WITH ORDINALITY AS asked (word, number) \
            LEFT JOIN LATERAL (SELECT location_id, latitude, longitude, category, featured \
            FROM location_words WHERE word >= asked.word AND word < asked.word || repeat(U&'\\+10FFFF', 201) \
            LIMIT 
            """ + SQL(integer: limit + 1) + ") AS found ON true",
            parameters: [.textArray])
    }
}
