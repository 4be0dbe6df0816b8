import PlaceImport
import PointsOfInterestAPI
import Postgres

/// The SQL of an import. The file's rows are in a temporary table, `import_rows`, which ends with the transaction. A row
/// without a name is the id of a row that was rejected.
enum ImportStatements {
    /// The table whose lock one import at a time has. Others go on reading and writing it.
    static let lockedTable: SQL = "datasets"

    /// There are no timeouts, because an import waits for others and for locks, and its session is idle while a slow file is
    /// read. `work_mem` lets the tables be joined and sorted as a whole: a plan by index lookups is right for few rows, and
    /// wrong for a million.
    ///
    /// The level is READ COMMITTED, because an import first waits, and then reads what others have committed meanwhile. The
    /// other levels of isolation don't see that.
    static let settings: [SQL] = [
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SET LOCAL lock_timeout = 0",
        "SET LOCAL statement_timeout = 0",
        "SET LOCAL idle_in_transaction_session_timeout = 0",
        "SET LOCAL work_mem = '64MB'",
        // As many digits as a double needs, whatever the server's setting is.
        "SET LOCAL extra_float_digits = 1",
    ]

    static let vocabulary: SQL = "SELECT name FROM categories"
    static let description: SQL = "SELECT license, credit, url FROM datasets WHERE name = $1"

    static let datasetNames: SQL = "SELECT name FROM datasets"

    static let createRows: SQL = """
        CREATE TEMPORARY TABLE import_rows (number bigint NOT NULL, source_id text NOT NULL, quadkey bigint, \
        name text, category text, latitude double precision, longitude double precision, featured boolean, \
        address text, website text, importance bigint, properties text, names text, \
        other_names text[], operating_status text, corrections text, suppressed boolean NOT NULL, \
        has_own_id boolean NOT NULL, given bigint NOT NULL, emptied_properties text[], \
        emptied_names text[]) ON COMMIT DROP
        """
    static let copyRows: SQL = "COPY pg_temp.import_rows FROM STDIN WITH (FORMAT binary)"
    static let analyzeRows: SQL = "ANALYZE pg_temp.import_rows (source_id, name)"

    /// Removes all but the last of the rows with the same id; returns how many.
    static let removeDuplicates: SQL = """
        WITH duplicate AS ( \
        DELETE FROM pg_temp.import_rows AS staged USING ( \
        SELECT source_id, max(number) AS last FROM pg_temp.import_rows WHERE name IS NOT NULL \
        GROUP BY source_id HAVING count(*) > 1) AS repeated \
        WHERE staged.source_id = repeated.source_id AND staged.number < repeated.last AND staged.name IS NOT NULL \
        RETURNING 1) SELECT count(*) FROM duplicate
        """

    /// Drops properties that the table wouldn't take; returns of how many rows.
    static let dropProperties: SQL = """
        WITH dropped AS ( \
        UPDATE pg_temp.import_rows SET properties = NULL WHERE NOT is_properties(properties::jsonb) RETURNING 1) \
        SELECT count(*) FROM dropped
        """

    /// Takes empty members out of objects of properties, as an empty column is none.
    static let dropEmptyProperties: SQL = """
        UPDATE pg_temp.import_rows SET properties = (SELECT jsonb_object_agg(key, value)::text \
        FROM jsonb_each(properties::jsonb) WHERE value NOT IN ('null', '""')) \
        WHERE properties LIKE '%null%' OR properties LIKE '%""%' OR properties !~ ':'
        """

    /// What rows lack, where no row has it, is none of the file's members: $1 are the bits that stay, $2 the properties that don't.
    static let takeBackEmptied: SQL = """
        UPDATE pg_temp.import_rows SET given = given & $1, emptied_properties = nullif(ARRAY( \
        SELECT unnest(emptied_properties) EXCEPT SELECT unnest($2)), '{}')
        """

    /// Drops corrections that no place can have; returns of how many rows.
    static let dropCorrections: SQL = """
        WITH dropped AS ( \
        UPDATE pg_temp.import_rows SET corrections = NULL WHERE corrections IS NOT NULL \
        AND NOT (are_members(corrections::jsonb) AND (NOT corrections::jsonb ? 'category' \
        OR EXISTS (SELECT FROM categories WHERE categories.name = corrections::jsonb ->> 'category'))) RETURNING 1) \
        SELECT count(*) FROM dropped
        """

    /// The same of properties that are too many together with those of the place that the row doesn't have.
    static let dropMergedProperties = dropMerged(
        "properties = NULL, emptied_properties = NULL",
        unless: "staged.given & " + bits(.properties)
            + " <> 0 OR staged.properties IS NULL OR place.properties IS NULL "
            // What is valid by itself is valid together, as long as it isn't too long; asking costs more than all else.
            + "OR octet_length(staged.properties::jsonb::text) + octet_length(place.properties::text) <= 4096 OR is_properties("
            + value(of: "properties", .properties) + ")")
    /// The same of names.
    static let dropMergedNames = dropMerged(
        "names = NULL, emptied_names = NULL, other_names = NULL, given = staged.given & ~" + bits(allNames),
        unless: "staged.given & " + bits(allNames) + " = " + bits(allNames)
            + " OR staged.names IS NULL AND staged.other_names IS NULL OR are_names("
            + value(of: "names", .names) + ", " + value(of: "other_names", .otherNames) + ")")

    private static let allNames: GivenMembers = [.names, .otherNames]

    static func bits(_ members: GivenMembers) -> SQL {
        SQL(integer: members.rawValue)
    }

    private static func dropMerged(_ change: SQL, unless isValid: SQL) -> SQL {
        "WITH dropped AS (UPDATE pg_temp.import_rows AS staged SET " + change
            + " FROM locations AS place WHERE " + isSame
            + " AND place.source_values IS NULL AND staged.name IS NOT NULL AND NOT (" + isValid
            + ") RETURNING 1) SELECT count(*) FROM dropped"
    }

    /// The value of a column that a row may leave out, which is the place's then: a row gives whole columns, or of names and
    /// properties some by their keys.
    static func value(of column: SQL, _ member: GivenMembers) -> SQL {
        let isGiven: SQL = "staged.given & " + bits(member) + " <> 0"
        let (old, new): (SQL, SQL) = ("place." + column, "staged." + column)
        guard member == .properties || member == .names else {
            return "CASE WHEN " + isGiven + " THEN " + new + " ELSE " + old + " END"
        }
        let emptied: SQL = "staged.emptied_" + column
        return "CASE WHEN " + isGiven + " THEN " + new + "::jsonb WHEN " + new + " IS NULL AND " + emptied
            + " IS NULL THEN " + old + " ELSE nullif((coalesce(" + old + ", '{}') || coalesce(" + new
            + "::jsonb, '{}')) - coalesce(" + emptied + ", '{}'), '{}') END"
    }

    static let isSame = isSame(in: "$1")

    static func isSame(in dataset: SQL) -> SQL {
        "place.source_dataset = " + dataset + " AND place.source_id = staged.source_id"
    }

    /// The rows that are places, and not what people have removed.
    static let isShown: SQL = "staged.name IS NOT NULL AND NOT staged.suppressed"

    /// The rows that are places, and that a dataset doesn't have.
    static func isNew(in dataset: SQL) -> SQL {
        isShown + " AND NOT EXISTS (SELECT FROM locations AS place WHERE " + isSame(in: dataset) + ")"
    }

    private static let isNew = isNew(in: "$1")

    /// How many of the new rows people have removed before; and how many were removed otherwise, and come back with their ids.
    static let countRemoved: SQL =
        """
        SELECT count(*) FILTER (WHERE removed.is_suppressed), count(*) FILTER (WHERE NOT removed.is_suppressed) \
        FROM pg_temp.import_rows AS staged JOIN 
        """ + removed + " WHERE " + isNew

    private static let removed = removed(from: "$1")

    /// The last that was removed of each source id, beside its row.
    static func removed(from dataset: SQL) -> SQL {
        "(SELECT DISTINCT ON (source_id) id, source_id, is_suppressed, corrections FROM removed_locations "
            + "WHERE source_dataset = " + dataset + " ORDER BY source_id, change DESC, id DESC) AS removed "
            + "ON removed.source_id = staged.source_id"
    }

    /// An id that no place had. The sequence is looked up once a statement.
    private static let newID: SQL = "nextval((SELECT pg_get_serial_sequence('locations', 'id')::regclass))"

    /// The id of a new row's place: the one that it had before it was removed, or a new one.
    private static let itsID: SQL = "coalesce(removed.id, " + newID + ")"

    /// Inserts in spatial order, in which searches read the fewest pages. $3 is the import's number.
    static let insert: SQL =
        """
        INSERT INTO locations (id, name, category, latitude, longitude, featured, address, website, importance, \
        properties, names, other_names, operating_status, source_dataset, source_id, source_license, import_run) \
        OVERRIDING SYSTEM VALUE SELECT 
        """ + itsID
            + """
            , name, category, latitude, longitude, featured, address, website, importance, properties::jsonb, names::jsonb, \
            other_names, operating_status, $1, staged.source_id, $2, $3 FROM pg_temp.import_rows AS staged LEFT JOIN 
            """ + removed + " WHERE " + isNew
        + " AND removed.is_suppressed IS NOT TRUE AND staged.corrections IS NULL AND removed.corrections IS NULL "
        + "ORDER BY quadkey"

    /// Inserts those that people have corrected: as the file says, or before they were removed.
    static let insertCorrected: SQL =
        """
        INSERT INTO locations (id, name, category, latitude, longitude, featured, address, website, importance, \
        properties, names, other_names, operating_status, source_values, source_dataset, source_id, source_license, import_run) \
        OVERRIDING SYSTEM VALUE SELECT 
        """ + itsID
            + """
            , made.name, made.category, made.latitude, made.longitude, made.featured, made.address, made.website, made.importance, \
            made.properties, made.names, made.other_names, made.operating_status, made.source_values, $1, staged.source_id, $2, $3 \
            FROM pg_temp.import_rows AS staged LEFT JOIN 
            """ + removed
            + """
             CROSS JOIN LATERAL with_corrections(jsonb_populate_record(NULL::locations, jsonb_build_object('name', staged.name, \
            'category', staged.category, 'latitude', staged.latitude, 'longitude', staged.longitude, 'featured', staged.featured, \
            'address', staged.address, 'website', staged.website, 'importance', staged.importance, \
            'properties', staged.properties::jsonb, 'names', staged.names::jsonb, 'other_names', staged.other_names, \
            'operating_status', staged.operating_status)), coalesce(staged.corrections::jsonb, '{}') \
            || coalesce(removed.corrections, '{}')) AS made WHERE 
            """ + isNew
        + " AND removed.is_suppressed IS NOT TRUE AND (staged.corrections IS NOT NULL OR removed.corrections IS NOT NULL) "
        + "ORDER BY quadkey"

    /// Removes the places that the file says people have removed.
    static let removeSuppressed: SQL =
        "DELETE FROM locations AS place USING pg_temp.import_rows AS staged WHERE staged.suppressed AND "
        + isSame

    /// How many places the file says people have removed that aren't known as such.
    static let countSuppressed: SQL =
        """
        SELECT count(*) FROM pg_temp.import_rows AS staged LEFT JOIN 
        """ + removed
        + " WHERE staged.suppressed AND staged.name IS NOT NULL AND (removed.is_suppressed IS NOT TRUE "
        + "OR EXISTS (SELECT FROM locations AS place WHERE " + isSame + "))"

    /// Notes that people have removed what the file says they have: of what was removed before, and of what was never there.
    static let suppress: [SQL] = [
        """
        UPDATE removed_locations AS removed SET is_suppressed = true FROM pg_temp.import_rows AS staged \
        WHERE staged.suppressed AND removed.source_dataset = $1 AND removed.source_id = staged.source_id \
        AND NOT removed.is_suppressed
        """,
        "INSERT INTO removed_locations "
            + "(id, source_dataset, source_id, name, category, latitude, longitude, change, is_suppressed) SELECT "
            + newID
                + """
                , $1, staged.source_id, name, category, latitude, longitude, coalesce(current_place_change(), 0), true FROM pg_temp.import_rows AS staged \
                WHERE staged.suppressed AND staged.name IS NOT NULL AND NOT EXISTS (SELECT FROM removed_locations AS removed \
                WHERE removed.source_dataset = $1 AND removed.source_id = staged.source_id)
                """,
    ]

    /// How far away from where it was a place is still taken for the same one, in metres.
    static let maximumMove: SQL = "1000"

    /// The places without an id of their own that the file adds, and that have the name, but for letter case, and the category
    /// of a place nearby that the file doesn't have: the farthest three, their distances in metres, and how many there are.
    /// Only names that are there once on either side are compared, so the cost stays linear where all have the same.
    static let moved: SQL =
        """
        WITH added AS ( \
        SELECT lower(name) AS folded, category, min(name) AS name, min(latitude) AS latitude, min(longitude) AS longitude \
        FROM pg_temp.import_rows AS staged WHERE staged.name IS NOT NULL AND NOT staged.has_own_id \
        AND NOT staged.suppressed AND NOT EXISTS (SELECT FROM locations AS place WHERE 
        """ + isSame
            + """
            ) GROUP BY 1, 2 HAVING count(*) = 1), vanished AS ( \
            SELECT lower(name) AS folded, category, min(latitude) AS latitude, min(longitude) AS longitude \
            FROM locations AS place WHERE source_dataset = $1 \
            AND (lower(name), category) IN (SELECT folded, category FROM added) \
            AND NOT EXISTS (SELECT FROM pg_temp.import_rows AS staged WHERE staged.source_id = place.source_id) \
            GROUP BY 1, 2 HAVING count(*) = 1), moved AS ( \
            SELECT name, ST_DistanceSphere(ST_MakePoint(added.longitude, added.latitude), \
            ST_MakePoint(vanished.longitude, vanished.latitude)) AS meters FROM added JOIN vanished USING (folded, category)) \
            SELECT name, meters, count(*) OVER () FROM moved WHERE meters <= 
            """ + maximumMove + " ORDER BY meters DESC, name COLLATE \"C\" LIMIT 3"

    static let addCategories: SQL =
        "INSERT INTO categories (name) SELECT unnest($1) ON CONFLICT DO NOTHING"

    static let describeDataset: SQL = """
        INSERT INTO datasets (name, license, credit, url) VALUES ($1, $2, $3, $4) ON CONFLICT (name) \
        DO UPDATE SET license = excluded.license, credit = excluded.credit, url = excluded.url
        """

    /// Which places an import is about: those of a dataset, in a box and of some categories where these are given.
    struct Selection: Sendable {
        let condition: SQL
        let parameters: [PostgresValue]

        init(dataset: String, box: BoundingBox?, categories: [String]) {
            var condition: SQL = "place.source_dataset = $1"
            var parameters: [PostgresValue] = [.text(dataset)]
            if !categories.isEmpty {
                condition = condition + " AND place.category = ANY ($2)"
                parameters.append(.textArray(categories))
            }
            if let box {
                let first = parameters.count + 1
                let corners = (first..<first + 4).map { SQL(unsafeSQL: "$\($0)") }
                condition = condition + " AND " + .isPlace(in: box, corners: corners, of: "place")
                parameters += [box.west, box.south, box.east, box.north].map { .float8($0) }
            }
            self.condition = condition
            self.parameters = parameters
        }

        private static let hasVanished: SQL =
            " AND NOT EXISTS (SELECT FROM pg_temp.import_rows AS staged WHERE staged.source_id = place.source_id)"

        /// How many there are.
        var count: PostgresQuery {
            PostgresQuery("SELECT count(*) FROM locations AS place WHERE " + condition, parameters)
        }

        /// How many of them the file doesn't have.
        var countVanished: PostgresQuery {
            PostgresQuery(
                "SELECT count(*) FROM locations AS place WHERE " + condition + Self.hasVanished, parameters)
        }

        /// Puts the ids of those that the file doesn't have into a table.
        var listVanished: PostgresQuery {
            PostgresQuery(
                "CREATE TEMPORARY TABLE import_vanished ON COMMIT DROP AS SELECT id FROM locations AS place WHERE "
                    + condition + Self.hasVanished, parameters)
        }

        /// Finds what is refused of those that the file doesn't have.
        var findRefused: PostgresQuery {
            PostgresQuery(RefusedStatements.findVanished(condition + Self.hasVanished), parameters)
        }

        /// Removes those that the file doesn't have.
        var removeVanished: PostgresQuery {
            PostgresQuery("DELETE FROM locations AS place WHERE " + condition + Self.hasVanished, parameters)
        }
    }
}

extension PostgresConnection {
    /// Makes a dataset the one of `SQL.chosenDataset`, until the transaction ends: COPY takes no parameters.
    func choose(dataset: String) async throws {
        _ = try await query(PostgresQuery("SELECT set_config('poi.dataset', $1, true)", [.text(dataset)]))
    }
}

extension SQL {
    /// The name of the dataset that was chosen last.
    static let chosenDataset: SQL = "current_setting('poi.dataset')"

    /// Whether a row of `locations` is in a box, as `BoundingBox.contains`: at a pole any longitude counts, and -180 and 180
    /// are one meridian.
    ///
    /// - Parameter corners: the parameters of its west, south, east and north.
    static func isPlace(in box: BoundingBox, corners: [SQL], of table: SQL = "locations") -> SQL {
        let (west, south, east, north) = (corners[0], corners[1], corners[2], corners[3])
        let both: SQL = box.crossesAntimeridian ? " OR " : " AND "
        let (latitude, longitude) = (table + ".latitude", table + ".longitude")
        func isBetween(_ longitude: SQL) -> SQL {
            "(" + longitude + " >= " + west + both + longitude + " <= " + east + ")"
        }
        return latitude + " BETWEEN " + south + " AND " + north + " AND (abs(" + latitude + ") = 90 OR "
            + isBetween(longitude) + " OR abs(" + longitude + ") = 180 AND " + isBetween("-" + longitude)
            + ")"
    }
}
