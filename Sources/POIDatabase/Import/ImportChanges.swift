import PlaceImport
import Postgres

/// Members of a place that a row of a file changes: what the place shows, or what lies below its corrections.
package struct ChangedMembers: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let name = ChangedMembers(rawValue: 1)
    package static let category = ChangedMembers(rawValue: 1 << 1)
    package static let position = ChangedMembers(rawValue: 1 << 2)
    package static let featured = ChangedMembers(rawValue: 1 << 3)
    package static let address = ChangedMembers(rawValue: 1 << 4)
    package static let website = ChangedMembers(rawValue: 1 << 5)
    package static let importance = ChangedMembers(rawValue: 1 << 6)
    package static let properties = ChangedMembers(rawValue: 1 << 7)
    package static let names = ChangedMembers(rawValue: 1 << 8)
    package static let otherNames = ChangedMembers(rawValue: 1 << 9)
    package static let operatingStatus = ChangedMembers(rawValue: 1 << 10)
    package static let license = ChangedMembers(rawValue: 1 << 11)
    /// Corrections that the file has and that weren't there.
    package static let corrections = ChangedMembers(rawValue: 1 << 12)

    /// Each by itself, with its name in reports.
    static let named: [(member: ChangedMembers, name: String)] = [
        (.name, "name"), (.category, "category"), (.position, "position"), (.featured, "featured"),
        (.address, "address"), (.website, "website"), (.importance, "importance"),
        (.properties, "properties"),
        (.names, "names"), (.otherNames, "other_names"), (.operatingStatus, "operating_status"),
        (.license, "license"), (.corrections, "corrections"),
    ]
}

/// The SQL by which an import finds what its rows change, shows it, and changes it. `staged` is a row of the file, `place` the
/// place that it is about.
enum ImportChanges {
    /// The columns that a row may leave out, and the value that each has then.
    private static let members: [(column: SQL, value: SQL, member: ChangedMembers)] = [
        ("featured", ImportStatements.value(of: "featured", .featured), .featured),
        ("address", ImportStatements.value(of: "address", .address), .address),
        ("website", ImportStatements.value(of: "website", .website), .website),
        ("importance", ImportStatements.value(of: "importance", .importance), .importance),
        ("properties", ImportStatements.value(of: "properties", .properties), .properties),
        ("names", ImportStatements.value(of: "names", .names), .names),
        ("other_names", ImportStatements.value(of: "other_names", .otherNames), .otherNames),
        (
            "operating_status", ImportStatements.value(of: "operating_status", .operatingStatus),
            .operatingStatus
        ),
    ]

    private static func joined(_ items: [SQL], by separator: SQL = ", ") -> SQL {
        items.dropFirst().reduce(items[0]) { $0 + separator + $1 }
    }

    private static func bits(_ members: ChangedMembers) -> SQL { SQL(integer: members.rawValue) }

    /// Whether a place without corrections differs from the file's row; 0 and -0 are equal.
    private static let differs: SQL =
        "(place.name, place.category, place.latitude, place.longitude, "
        + joined(members.map { "place." + $0.column })
        + ", place.source_license) IS DISTINCT FROM (staged.name, staged.category, staged.latitude, staged.longitude, "
        + joined(members.map(\.value)) + ", $2)"
    /// Whether a place has corrections, or gets some: then its members are compared one by one.
    private static let isCorrected: SQL =
        "(place.source_values IS NOT NULL OR staged.corrections IS NOT NULL)"

    /// How many rows are new, how many differ, how many are about places with corrections, and how many there are. $1 is the
    /// dataset, $2 its license.
    static let count: SQL =
        "SELECT count(*) FILTER (WHERE place.id IS NULL), count(*) FILTER (WHERE place.id IS NOT NULL AND NOT "
        + isCorrected + " AND " + differs + "), count(*) FILTER (WHERE place.id IS NOT NULL AND "
        + isCorrected
        + "), count(*) FROM pg_temp.import_rows AS staged LEFT JOIN locations AS place ON "
        + ImportStatements.isSame + " WHERE " + ImportStatements.isShown

    // MARK: Which places change

    /// A table of the rows that change a place: which members, and whether somebody has changed the place by hand since an
    /// import wrote it. Of places with corrections all rows, so far. $1 is the dataset, $2 its license.
    static let create = create(where: ImportStatements.isShown)
    /// The same of the rows that a reviewer refuses.
    static let createOfRefused = create(
        where: ImportStatements.isShown + " AND " + RefusedStatements.isRefused)
    static let drop: SQL = "DROP TABLE pg_temp.import_changes"

    private static func create(where condition: SQL) -> SQL {
        """
        CREATE TEMPORARY TABLE import_changes ON COMMIT DROP AS \
        SELECT number, id, is_by_hand, false AS keeps_by_hand, members, NULL::jsonb AS changes FROM ( \
        SELECT staged.number, place.id, place.import_run IS NULL AS is_by_hand, CASE WHEN NOT 
        """ + isCorrected + " THEN " + changedMembers
            + " END AS members FROM pg_temp.import_rows AS staged JOIN locations AS place ON "
            + ImportStatements.isSame + " WHERE " + condition
            + " OFFSET 0) AS compared WHERE members IS DISTINCT FROM 0"
    }

    private static let changedMembers: SQL = joined(
        [bit("name", "staged.name", .name), bit("category", "staged.category", .category)]
            + [
                bit(
                    "(place.latitude, place.longitude)", "(staged.latitude, staged.longitude)", .position,
                    of: "")
            ]
            + members.map { bit($0.column, $0.value, $0.member) } + [bit("source_license", "$2", .license)],
        by: " | ")

    private static func bit(_ column: SQL, _ value: SQL, _ member: ChangedMembers, of table: SQL = "place.")
        -> SQL
    {
        "(CASE WHEN " + table + column + " IS DISTINCT FROM " + value + " THEN " + bits(member)
            + " ELSE 0 END)"
    }

    /// What a row says of its place's source, by members; null takes a value away.
    private static let changes: SQL =
        """
        jsonb_build_object('name', staged.name, 'category', staged.category, \
        'position', jsonb_build_array(staged.latitude, staged.longitude))
        """
        + joined(
            [
                given("featured", .featured), given("address", .address), given("website", .website),
                given("importance", .importance), given("other_names", .otherNames),
                given("operating_status", .operatingStatus), keys("names", .names),
                keys("properties", .properties),
            ], by: "")

    private static func given(_ column: SQL, _ member: GivenMembers) -> SQL {
        " || CASE WHEN staged.given & " + ImportStatements.bits(member) + " <> 0 THEN jsonb_build_object('"
            + column
            + "', staged." + column + ") ELSE '{}' END"
    }

    /// The members that are one for each key. What is given as a whole takes away the keys that it doesn't have.
    private static func keys(_ column: SQL, _ member: GivenMembers) -> SQL {
        " || CASE WHEN staged.given & " + ImportStatements.bits(member)
            + " <> 0 THEN (SELECT coalesce(jsonb_object_agg(key, 'null'::jsonb), '{}') FROM "
            + "jsonb_object_keys(source_members(place)) AS key WHERE starts_with(key, '" + column
            + ".')) ELSE '{}' END || (SELECT coalesce(jsonb_object_agg('" + column
            + ".' || key, 'null'::jsonb), '{}') FROM unnest(staged.emptied_" + column
            + ") AS key) || (SELECT coalesce(jsonb_object_agg('" + column
            + ".' || key, value), '{}') FROM jsonb_each(staged." + column + "::jsonb))"
    }

    /// Notes what rows say of their places' sources.
    private static func findChanges(where condition: SQL) -> SQL {
        "UPDATE pg_temp.import_changes AS change SET changes = " + changes
            + " FROM pg_temp.import_rows AS staged, locations AS place WHERE change.number = staged.number "
            + "AND change.id = place.id AND " + condition
    }

    /// Notes what the file says of the places with corrections.
    static let findChanges = findChanges(where: "change.members IS NULL")

    /// A table of what the file says of the places with corrections, whether it changes anything or not.
    static let createKept: SQL =
        "CREATE TEMPORARY TABLE import_kept ON COMMIT DROP AS SELECT id, changes FROM pg_temp.import_changes "
        + "WHERE changes IS NOT NULL"

    /// Finds out which members of places with corrections change. $1 is the license.
    static let compareCorrected: SQL =
        """
        UPDATE pg_temp.import_changes AS change SET members = (SELECT coalesce(bit_or(CASE 
        """
        + joined(
            [
                ("name", ChangedMembers.name), ("category", .category), ("position", .position),
                ("featured", .featured), ("address", .address), ("website", .website),
                ("importance", .importance), ("other_names", .otherNames),
                ("operating_status", .operatingStatus),
            ].map { " WHEN key = '" + $0.0 + "' THEN " + bits($0.1) }, by: "")
        + " WHEN starts_with(key, 'names.') THEN " + bits(.names) + " ELSE " + bits(.properties)
        + " END), 0) FROM "
        + differences(after: "change.changes") + ") | (CASE WHEN place.source_license <> $1 THEN "
        + bits(.license)
        + " ELSE 0 END) | (CASE WHEN coalesce(staged.corrections::jsonb, '{}') - ARRAY(SELECT "
        + "jsonb_object_keys(place.source_values)) <> '{}' THEN " + bits(.corrections) + " ELSE 0 END)"
            + """
             FROM pg_temp.import_rows AS staged, locations AS place \
            WHERE change.number = staged.number AND change.id = place.id AND change.changes IS NOT NULL
            """

    /// Leaves the rows that change something.
    static let dropUnchanged: SQL = "DELETE FROM pg_temp.import_changes WHERE members = 0"

    /// The members of a place's source that a row changes, with both values.
    private static func differences(after changes: SQL) -> SQL {
        "(SELECT key, was.value AS before, is_now.value AS after FROM jsonb_each(source_members(place)) AS was "
            + "FULL JOIN jsonb_each(source_members(with_source_members(place, " + changes
            + "))) AS is_now USING (key) "
            + "WHERE was.value IS DISTINCT FROM is_now.value) AS difference"
    }

    /// The corrections of the places in `import_kept` that differ from what the file says, each as `key` and `source`.
    private static let kept: SQL = """
        pg_temp.import_kept AS change JOIN locations AS place USING (id), LATERAL (SELECT key, source FROM ( \
        SELECT key, coalesce(change.changes -> key, place.source_values -> key) AS source \
        FROM jsonb_object_keys(place.source_values) AS key) AS corrected \
        WHERE nullif(source, 'null') IS DISTINCT FROM place_members(place) -> key) AS kept
        """

    static let countKept: SQL = "SELECT count(*) FROM " + kept

    static let analyze: SQL = "ANALYZE pg_temp.import_changes (number, id)"

    // MARK: What is shown of them

    /// How many rows change which members, how many of them what was changed by hand; then for each member how many.
    static let countChanges: SQL =
        "SELECT count(*), count(*) FILTER (WHERE is_by_hand), count(*) FILTER (WHERE changes IS NULL), "
        + joined(
            ChangedMembers.named.map { "count(*) FILTER (WHERE members & " + bits($0.member) + " <> 0)" })
        + " FROM pg_temp.import_changes"

    static let countByHand: SQL = "SELECT count(*) FROM pg_temp.import_changes WHERE is_by_hand"

    /// The farthest that a place moves, in metres.
    static let farthestMove: SQL =
        """
        SELECT max(ST_DistanceSphere(ST_MakePoint(staged.longitude, staged.latitude), \
        ST_MakePoint(coalesce((place.source_values -> 'position' ->> 1)::float8, place.longitude), \
        coalesce((place.source_values -> 'position' ->> 0)::float8, place.latitude)))) FROM pg_temp.import_changes AS change \
        JOIN pg_temp.import_rows AS staged USING (number) JOIN locations AS place ON place.id = change.id \
        WHERE change.members & 
        """ + bits(.position) + " <> 0"

    /// How many rows are at 0, 0, where no place is.
    static let countAtOrigin: SQL = """
        SELECT count(*) FROM pg_temp.import_rows WHERE name IS NOT NULL AND latitude = 0 AND longitude = 0
        """

    /// What rows change, for people and programs: the place, and the members with both values as JSON. In the order of the file.
    private static let list: SQL =
        """
        SELECT change.number, place.id, place.source_id, staged.name, place.category, place.latitude, place.longitude, \
        change.is_by_hand, \
        (SELECT jsonb_object_agg(key, jsonb_build_object('before', before, 'after', after)) FROM 
        """ + differences(after: "coalesce(change.changes, " + changes + ")")
            + """
            ) AS members FROM pg_temp.import_changes AS change JOIN pg_temp.import_rows AS staged USING (number) \
            JOIN locations AS place ON place.id = change.id
            """

    /// All of them, as lines of JSON for COPY; a place that people have corrected has its corrections too.
    static let lines: SQL =
        "SELECT jsonb_strip_nulls(jsonb_build_object('change', 'changed', 'id', id, 'sourceId', source_id, 'name', name, "
        + "'category', category, 'latitude', latitude, 'longitude', longitude, "
        + "'byHand', CASE WHEN is_by_hand THEN true END)) || jsonb_build_object('members', coalesce(members, '{}')) FROM ("
        + list + ") AS changed ORDER BY number"

    /// One for each combination of members, the first few.
    static let examples: SQL =
        "SELECT id, name, members::text FROM (" + list
            + """
             WHERE change.number IN (SELECT min(number) FROM pg_temp.import_changes GROUP BY members ORDER BY 1 LIMIT 5)) \
            AS changed ORDER BY number
            """

    /// The corrections that differ from what the file says, as lines of JSON for COPY.
    static let keptLines: SQL =
        """
        SELECT jsonb_build_object('change', 'kept', 'id', place.id, 'sourceId', place.source_id, 'name', place.name, \
        'category', place.category, 'latitude', place.latitude, 'longitude', place.longitude, \
        'members', jsonb_object_agg(key, jsonb_build_object('correction', place_members(place) -> key, 'source', source))) FROM 
        """ + kept + " GROUP BY place.id ORDER BY place.id"

    /// Finds out which places that somebody has changed by hand get other values of what was changed, and which keep some of it.
    static let compareByHand: SQL =
        "UPDATE pg_temp.import_changes AS found SET is_by_hand = compared.changed && compared.by_hand, "
        + "keeps_by_hand = NOT compared.changed @> compared.by_hand FROM (SELECT change.number, "
        + "members_by_hand(place) AS by_hand, ARRAY(SELECT key FROM "
        + differences(after: "coalesce(change.changes, " + changes + ")") + ") AS changed "
        + "FROM pg_temp.import_changes AS change JOIN pg_temp.import_rows AS staged USING (number) "
        + "JOIN locations AS place ON place.id = change.id WHERE change.is_by_hand) AS compared "
        + "WHERE found.number = compared.number"

    /// The first few of which the file changes what was changed by hand.
    static let byHand: SQL = """
        SELECT place.id, place.name FROM pg_temp.import_changes JOIN locations AS place USING (id) \
        WHERE is_by_hand ORDER BY id LIMIT 10
        """

    // MARK: Changing them

    /// Changes places without corrections, also without such that somebody has made since the places were compared. $1 is the
    /// license, $2 the import's number.
    static let update: SQL =
        """
        UPDATE locations AS place SET name = staged.name, category = staged.category, latitude = staged.latitude, \
        longitude = staged.longitude, source_license = $1, \
        import_run = CASE WHEN change.keeps_by_hand THEN NULL ELSE $2 END, 
        """ + joined(members.map { $0.column + " = " + $0.value })
        + " FROM pg_temp.import_rows AS staged JOIN pg_temp.import_changes AS change USING (number) "
        + "WHERE place.id = change.id AND change.changes IS NULL AND place.source_values IS NULL"

    /// Finds the places that were corrected since they were compared.
    static let findCorrected = findChanges(
        where: "change.changes IS NULL AND place.source_values IS NOT NULL")

    /// Changes what lies below the corrections of places that have some, and what isn't corrected. With the
    /// same parameters.
    static let updateCorrected: SQL =
        """
        UPDATE locations AS place SET (name, category, latitude, longitude, featured, address, website, importance, names, \
        other_names, properties, operating_status, source_values) = (SELECT made.name, made.category, made.latitude, \
        made.longitude, made.featured, made.address, made.website, made.importance, made.names, made.other_names, \
        made.properties, made.operating_status, made.source_values FROM with_corrections(with_source_members(place, \
        change.changes), staged.corrections::jsonb) AS made), source_license = $1, \
        import_run = CASE WHEN change.keeps_by_hand THEN NULL ELSE $2 END \
        FROM pg_temp.import_rows AS staged JOIN pg_temp.import_changes AS change USING (number) \
        WHERE place.id = change.id AND change.changes IS NOT NULL
        """
}
