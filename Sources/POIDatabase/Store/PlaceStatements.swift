import PointsOfInterestServerAPI
import Postgres

/// The SQL that reads places; see `Documentation/queries.md` for what each statement costs.
enum PlaceStatements {
    /// The places with the ids `$1` (bigint[]), in no order, as `PlaceRows` reads them. Nobody asks how long their chords are.
    ///
    /// The subquery hides the ids from the planner: if it knew them, it would plan a few of them anew in each request, because
    /// it estimates that the plan for any ids costs more.
    ///
    /// All properties are among the texts, and the names in languages where these are needed.
    static func byID(withNames: Bool) -> PreparedStatement { withNames ? named : unnamed }

    private static let named = byID(with: [.names, .properties])
    private static let unnamed = byID(with: [.properties])

    private static func byID(with extras: ExtraTexts) -> PreparedStatement {
        PreparedStatement(
            version + " UNION ALL SELECT id, circle(" + position + ", -1), " + texts(with: extras)
                + ", NULL FROM locations WHERE id = ANY ((SELECT $1)::bigint[])",
            parameters: [.int8Array])
    }

    /// The first row of `PlaceRows`. The dataset's version has a row of its own, because a value in each row costs the server
    /// some two hundred instructions, and one that is null a quarter of that. It is first, because sessions have no parallel
    /// workers; a result where it weren't would be refused.
    static let version: SQL =
        "SELECT NULL::bigint, NULL::circle, NULL::text, (SELECT version FROM dataset)"

    /// The number of places of each category that there ever was.
    ///
    /// It counts `name`, which no index has, to prevent an index-only scan. On pages that no vacuum has marked, such a scan
    /// reads each row of the table by itself, and the planner doesn't foresee that.
    static let categories = PreparedStatement(
        """
        SELECT categories.name, coalesce(counted.count, 0) AS count, (SELECT version FROM dataset) AS dataset_version \
        FROM categories LEFT JOIN (
            SELECT category, count(name) AS count FROM locations GROUP BY category
        ) AS counted ON counted.category = categories.name
        """)

    /// The number of places of each source dataset, and their licenses, joined by AND.
    static let countedDatasets: SQL = """
        SELECT dataset, string_agg(license, ' AND ' ORDER BY license COLLATE "C") AS license,
            sum(places)::bigint AS places
        FROM (
            SELECT source_dataset AS dataset, source_license AS license, count(*) AS places
            FROM locations WHERE source_dataset IS NOT NULL GROUP BY source_dataset, source_license
        ) AS licensed GROUP BY dataset
        """

    /// The number of places of each source dataset, with its license and credit. If no place has a source, the result is one
    /// row that is null except for the dataset's version. A dataset that has no row of its own gets the licenses of its
    /// places.
    static let attributions = PreparedStatement(
        """
        SELECT counted.dataset, coalesce(datasets.license, counted.license) AS license, datasets.credit, datasets.url, \
        counted.places, version.dataset_version
        FROM (SELECT (SELECT version FROM dataset) AS dataset_version) AS version LEFT JOIN (
        """ + countedDatasets + """
            ) AS counted ON true LEFT JOIN datasets ON datasets.name = counted.dataset
            """)

    /// Reads the dataset's version, and whether the database is a standby. `DatasetWatcher` runs it repeatedly.
    static let state = PreparedStatement("SELECT (SELECT version FROM dataset), pg_is_in_recovery()")

    /// The names of all categories, those of all datasets that have a row or places, and the names and types of the properties
    /// that places can be filtered by, as `FilterVocabulary` reads them.
    ///
    /// The datasets of places are read one after the other from an index whose first column is the dataset. So each is read
    /// once, however many places it has (PostgreSQL wiki, "Loose indexscan").
    static let vocabulary = PreparedStatement(
        """
        WITH RECURSIVE used AS (
            SELECT min(source_dataset) AS dataset FROM locations WHERE source_dataset IS NOT NULL
            UNION ALL
            SELECT (SELECT min(source_dataset) FROM locations WHERE source_dataset > used.dataset)
            FROM used WHERE used.dataset IS NOT NULL
        )
        SELECT ARRAY(SELECT name FROM categories), ARRAY(
            SELECT dataset FROM used WHERE dataset IS NOT NULL UNION SELECT name FROM datasets
        ), ARRAY(SELECT name FROM filterable_properties ORDER BY name), \
        ARRAY(SELECT type FROM filterable_properties ORDER BY name)
        """)

    /// The names and types of the properties that places can be filtered by, as `FilterableProperties` reads them.
    static let filterableProperties: PostgresQuery = """
        SELECT ARRAY(SELECT name FROM filterable_properties ORDER BY name), \
        ARRAY(SELECT type FROM filterable_properties ORDER BY name)
        """

    /// A place's position as one value. With the chord it becomes the centre and the radius of a `circle`: one column instead
    /// of three.
    static let position: SQL = "point(longitude, latitude)"

    /// All columns of a place but its id and position, joined into one value, as `PlaceRecord.record` reads them. Joining
    /// them costs PostgreSQL no more than sending each.
    ///
    /// Before each text but the name is a control character that says which text follows. The one before the category also
    /// says whether the place is featured. The table's checks make sure that no text has control characters.
    ///
    /// The names in languages and the properties are large, and only read where they are needed.
    static func texts(with extras: ExtraTexts) -> SQL {
        let names: SQL = extras.contains(.names) ? " || coalesce(chr(10) || names::text, '')" : ""
        return texts + names
            + (extras.contains(.properties) ? " || coalesce(chr(11) || properties::text, '')" : "")
    }

    /// All names of a place, with `PlaceFields.betweenOtherNames` between any two. Most places have one, for which nothing is
    /// called.
    static let allNames: SQL = """
        name || CASE WHEN names IS NULL THEN '' ELSE chr(1) || (SELECT string_agg(value, chr(1)) FROM jsonb_each_text(names)) END \
        || coalesce(chr(1) || array_to_string(other_names, chr(1)), '')
        """

    /// What `texts` may have in addition.
    struct ExtraTexts: OptionSet {
        let rawValue: UInt8
        static let names = ExtraTexts(rawValue: 1)
        static let properties = ExtraTexts(rawValue: 2)
    }

    private static let texts: SQL = """
        name || CASE WHEN featured THEN chr(2) ELSE chr(1) END || category || coalesce(chr(3) || address, '') \
        || coalesce(chr(4) || website, '') \
        || coalesce(chr(5) || source_dataset || chr(6) || source_id || chr(7) || source_license, '') \
        || CASE WHEN importance > 0 THEN chr(8) || importance ELSE '' END
        """
}

extension FilterVocabulary {
    /// Reads a row of `PlaceStatements.vocabulary`.
    init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            categories: try row.decode([String].self, at: 0), datasets: try row.decode([String].self, at: 1),
            properties: try FilterableProperties(row, at: 2))
    }
}

extension FilterableProperties {
    /// Reads the names in a column, and their types in the next one.
    init(_ row: PostgresRow, at column: Int) throws(PostgresError) {
        let names = try row.decode([String].self, at: column)
        let types = try row.decode([String].self, at: column + 1)
        self.init(zip(names, types).compactMap { name, type in Kind(rawValue: type).map { (name, $0) } })
    }
}
