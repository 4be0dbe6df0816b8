import Postgres

/// The SQL by which an import leaves out what a reviewer refuses, before it counts what it does: the rows of these places
/// become like rows that were rejected, which nothing is made of, and whose places `--sync` spares.
enum RefusedStatements {
    /// What is refused; what the import would do, which `found` has unless it is nothing; and of which place.
    static let create: SQL = """
        CREATE TEMPORARY TABLE import_refused (source_id text NOT NULL, change text NOT NULL, found text, id bigint, \
        name text, category text, latitude double precision, longitude double precision, \
        PRIMARY KEY (source_id, change)) ON COMMIT DROP
        """

    /// $1 are source ids, $2 what is refused of each.
    static let insert: SQL =
        "INSERT INTO pg_temp.import_refused (source_id, change) SELECT * FROM unnest($1, $2) ON CONFLICT DO NOTHING"
    static let analyze: SQL = "ANALYZE pg_temp.import_refused (source_id)"

    static let isRefused: SQL = "staged.source_id IN (SELECT source_id FROM pg_temp.import_refused)"

    private static func find(_ change: SQL, _ place: SQL, id: SQL = "place.id") -> SQL {
        "UPDATE pg_temp.import_refused AS refused SET found = '" + change + "', id = " + id + ", name = "
            + place
            + ".name, category = " + place + ".category, latitude = " + place + ".latitude, longitude = "
            + place
            + ".longitude FROM "
    }

    /// $1 is the dataset.
    static let findAdded =
        find("added", "staged", id: "removed.id") + "pg_temp.import_rows AS staged LEFT JOIN "
        + ImportStatements.removed(from: "$1") + " WHERE refused.source_id = staged.source_id AND "
        + ImportStatements.isNew(in: "$1") + " AND removed.is_suppressed IS NOT TRUE"

    /// Of the places in `import_changes`.
    static let findChanged =
        find("changed", "place")
        + "pg_temp.import_changes AS change JOIN locations AS place USING (id) WHERE refused.source_id = place.source_id"

    /// Of the places that the file says people have removed. $1 is the dataset.
    static let findSuppressed =
        find("removed", "place") + "pg_temp.import_rows AS staged JOIN locations AS place ON "
        + ImportStatements.isSame + " WHERE staged.suppressed AND refused.source_id = staged.source_id"

    /// Of those of a selection that the file doesn't have.
    static func findVanished(_ condition: SQL) -> SQL {
        find("removed", "place") + "locations AS place WHERE refused.source_id = place.source_id AND "
            + condition
    }

    /// Takes the rows' names away.
    static let leaveOut: SQL =
        "UPDATE pg_temp.import_rows AS staged SET name = NULL, suppressed = false WHERE name IS NOT NULL AND "
        + isRefused

    /// Makes rows for those that have none.
    static let spare: SQL = """
        INSERT INTO pg_temp.import_rows (number, source_id, suppressed, has_own_id, given) \
        SELECT DISTINCT 0, source_id, false, true, 0 FROM pg_temp.import_refused AS refused WHERE NOT EXISTS ( \
        SELECT FROM pg_temp.import_rows AS staged WHERE staged.source_id = refused.source_id)
        """

    /// Of new categories, those that rows still have.
    static let neededCategories: SQL =
        "SELECT DISTINCT category FROM pg_temp.import_rows WHERE name IS NOT NULL AND category = ANY ($1)"

    /// How many apply, and how many don't.
    static let count: SQL = """
        SELECT count(*) FILTER (WHERE found IS NOT DISTINCT FROM change), \
        count(*) FILTER (WHERE found IS DISTINCT FROM change) FROM pg_temp.import_refused
        """

    /// The first few that don't apply.
    static let notApplicable: SQL = """
        SELECT source_id, change, found FROM pg_temp.import_refused WHERE found IS DISTINCT FROM change \
        ORDER BY source_id COLLATE "C", change LIMIT 5
        """

    /// The places to which something would be done, as lines of JSON for COPY.
    static let lines: SQL = """
        SELECT jsonb_strip_nulls(jsonb_build_object('change', 'refused', 'refused', found, 'id', id, 'sourceId', source_id, \
        'name', name, 'category', category, 'latitude', latitude, 'longitude', longitude)) FROM ( \
        SELECT DISTINCT ON (source_id) * FROM pg_temp.import_refused WHERE found IS NOT NULL ORDER BY source_id) AS refused \
        ORDER BY source_id COLLATE "C"
        """
}
