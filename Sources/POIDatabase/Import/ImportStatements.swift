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
    ]

    static let vocabulary: SQL = "SELECT name FROM categories"
    static let description: SQL = "SELECT license, credit, url FROM datasets WHERE name = $1"

    static let createRows: SQL = """
        CREATE TEMPORARY TABLE import_rows (number bigint NOT NULL, source_id text NOT NULL, quadkey bigint, \
        name text, category text, latitude double precision, longitude double precision, featured boolean, \
        address text, website text, importance bigint, properties text, names text, \
        other_names text[], has_own_id boolean NOT NULL, given bigint NOT NULL, emptied_properties text[], \
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

    /// The same of properties that are too many together with those of the place that the row doesn't have.
    static let dropMergedProperties = dropMerged(
        "properties = NULL, emptied_properties = NULL",
        unless: "staged.given & " + bits(.properties)
            + " <> 0 OR staged.properties IS NULL OR place.properties IS NULL OR is_properties("
            + value(of: "properties", .properties) + ")")
    /// The same of names.
    static let dropMergedNames = dropMerged(
        "names = NULL, emptied_names = NULL, other_names = NULL, given = staged.given & ~" + bits(allNames),
        unless: "staged.given & " + bits(allNames) + " = " + bits(allNames)
            + " OR staged.names IS NULL AND staged.other_names IS NULL OR are_names("
            + value(of: "names", .names) + ", " + value(of: "other_names", .otherNames) + ")")

    private static let allNames: GivenMembers = [.names, .otherNames]

    private static func bits(_ members: GivenMembers) -> SQL {
        SQL(integer: members.rawValue)
    }

    private static func dropMerged(_ change: SQL, unless isValid: SQL) -> SQL {
        "WITH dropped AS (UPDATE pg_temp.import_rows AS staged SET " + change
            + " FROM locations AS place WHERE " + isSame + " AND staged.name IS NOT NULL AND NOT (" + isValid
            + ") RETURNING 1) SELECT count(*) FROM dropped"
    }

    /// The columns that a row may leave out, and the value that each has then, which is the place's: a row gives whole columns, or
    /// of names and properties some by their keys.
    private static let members: [(column: SQL, value: SQL)] = [
        ("featured", value(of: "featured", .featured)), ("address", value(of: "address", .address)),
        ("website", value(of: "website", .website)), ("importance", value(of: "importance", .importance)),
        ("properties", value(of: "properties", .properties)), ("names", value(of: "names", .names)),
        ("other_names", value(of: "other_names", .otherNames)),
    ]

    private static func value(of column: SQL, _ member: GivenMembers) -> SQL {
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

    /// Whether a place differs from the file's row; 0 and -0 are equal. $2 is the license.
    private static let differs: SQL =
        "(place.name, place.category, place.latitude, place.longitude, "
        + list(members.map { "place." + $0.column })
        + ", place.source_license) IS DISTINCT FROM (staged.name, staged.category, staged.latitude, staged.longitude, "
        + list(members.map(\.value)) + ", $2)"

    private static func list(_ items: [SQL]) -> SQL {
        items.dropFirst().reduce(items[0]) { $0 + ", " + $1 }
    }
    private static let isSame: SQL = "place.source_dataset = $1 AND place.source_id = staged.source_id"

    /// How many rows are new, how many differ, and how many there are.
    static let count: SQL =
        "SELECT count(*) FILTER (WHERE place.id IS NULL), count(*) FILTER (WHERE place.id IS NOT NULL AND "
        + differs + "), count(*) FROM pg_temp.import_rows AS staged LEFT JOIN locations AS place ON "
        + isSame + " WHERE staged.name IS NOT NULL"

    static let update: SQL =
        """
        UPDATE locations AS place SET name = staged.name, category = staged.category, latitude = staged.latitude, \
        longitude = staged.longitude, source_license = $2, 
        """ + list(members.map { $0.column + " = " + $0.value })
        + " FROM pg_temp.import_rows AS staged WHERE staged.name IS NOT NULL AND " + isSame + " AND "
        + differs

    /// Inserts in spatial order, in which searches read the fewest pages.
    static let insert: SQL =
        """
        INSERT INTO locations (name, category, latitude, longitude, featured, address, website, importance, \
        properties, names, other_names, source_dataset, source_id, source_license) \
        SELECT name, category, latitude, longitude, featured, address, website, importance, properties::jsonb, \
        names::jsonb, other_names, $1, source_id, $2 \
        FROM pg_temp.import_rows AS staged WHERE staged.name IS NOT NULL \
        AND NOT EXISTS (SELECT FROM locations AS place WHERE 
        """ + isSame + ") ORDER BY quadkey"

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
        AND NOT EXISTS (SELECT FROM locations AS place WHERE 
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

        /// Removes those that the file doesn't have.
        var removeVanished: PostgresQuery {
            PostgresQuery("DELETE FROM locations AS place WHERE " + condition + Self.hasVanished, parameters)
        }
    }
}

extension SQL {
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
