import Postgres

/// The places that have a word that begins so: `$1` the beginnings (text[]).
///
/// Read from the index alone. The bound above is longer than any word: names have 200 characters at most, and
/// U+10FFFF is the greatest there is.
struct WordStatements: Sendable {
    /// A statement, and how many places of a word it answers at most.
    struct Limited: Sendable {
        let limit: Int
        let prepared: PreparedStatement
    }

    /// Reads so few places of each word that it costs next to nothing.
    let few: Limited
    /// Reads as many as are cheaper than to go on looking for.
    let many: Limited
    /// Where so many cubes around the centre don't have the answer, the places are far or few.
    let nearbyCubeLimit: Int

    /// What the service works with.
    static let standard = WordStatements(few: 2000, many: 20_000, nearbyCubeLimit: 48)

    /// Makes statements; tests take limits that small data reach.
    init(few: Int, many: Int, nearbyCubeLimit: Int) {
        self.few = Self.statement(limit: few)
        self.many = Self.statement(limit: many)
        self.nearbyCubeLimit = nearbyCubeLimit
    }

    private static func statement(limit: Int) -> Limited {
        let sql: SQL =
            """
            SELECT asked.number, found.location_id, found.latitude, found.longitude, found.category, \
            found.featured, dataset.id \
            FROM (SELECT (SELECT id FROM dataset) AS id) AS dataset \
            CROSS JOIN unnest($1) WITH ORDINALITY AS asked (word, number) \
            LEFT JOIN LATERAL (SELECT location_id, latitude, longitude, category, featured \
            FROM location_words WHERE word >= asked.word AND word < asked.word || repeat(U&'\\+10FFFF', 201) \
            LIMIT 
            """ + SQL(integer: limit + 1) + ") AS found ON true"
        return Limited(limit: limit, prepared: PreparedStatement(sql, parameters: [.textArray]))
    }
}
