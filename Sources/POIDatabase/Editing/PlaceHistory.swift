import EventLoop
import Postgres
import Program

/// What is known of a place, for people: its members, what its source says below corrections, and its versions.
package struct PlaceHistory: Sendable {
    /// A member of a place.
    package struct Member: Sendable, Hashable {
        /// As `poi places correct` takes it: `properties.phone`.
        package let name: String
        /// JSON of its value; nil where there is none.
        package let value: String?
        /// JSON of what the source says, where the member is corrected.
        package let source: String?
        package let isCorrected: Bool
    }

    /// A place, or what is left of a removed one.
    package struct Record: Sendable, Hashable {
        package let id: Int64
        /// What is said beside the members: its version, when it was written, where it is from; or what became of it.
        package let facts: [String]
        package let members: [Member]
    }

    /// A change of a place.
    package struct Change: Sendable, Hashable {
        package let time: String
        /// The editor, the import, or the role that made it.
        package let who: String
        /// The version before, which can be restored.
        package let version: Int64
        package let isRemoval: Bool
        package let members: [MemberChange]
    }

    package struct MemberChange: Sendable, Hashable {
        /// As `poi places correct` takes it; `source of …` is what the source says below a correction.
        package let name: String
        /// JSON; nil for none.
        package let before: String?
        package let after: String?
    }

    private let configuration: PostgresConfiguration

    /// The places of the database that `database` leads to, as the tables' owner.
    package init(_ database: DatabaseConfiguration) {
        var configuration = database.postgres
        configuration.statementTimeout = nil
        self.configuration = configuration
    }

    /// The place. Blocks, as all of these do.
    ///
    /// - Throws: `CommandError` where there never was one, and for an error of the database.
    package func record(of id: Int64) throws -> Record {
        try run { connection in
            let members = try await connection.query(PostgresQuery(Self.members, [.int8(id)])).map { row in
                Member(
                    name: try row.decode(at: 0), value: try row.decode(at: 1), source: try row.decode(at: 2),
                    isCorrected: try row.decode(at: 3))
            }
            let facts = try await connection.query(PostgresQuery(Self.facts, [.int8(id)]))
            guard let row = facts.first else {
                throw CommandError("there is no place \(id), and never was one")
            }
            return Record(id: id, facts: try row.decode(at: 0), members: members)
        }
    }

    /// What has changed it, the newest first.
    package func changes(of id: Int64) throws -> [Change] {
        try run { connection in
            var changes: [Change] = []
            for row in try await connection.query(PostgresQuery(Self.changes, [.int8(id)])) {
                let names: [String] = try row.decode(at: 4)
                let before: [String] = try row.decode(at: 5)
                let after: [String] = try row.decode(at: 6)
                changes.append(
                    Change(
                        time: try row.decode(at: 0), who: try row.decode(at: 1),
                        version: try row.decode(at: 2),
                        isRemoval: try row.decode(at: 3),
                        members: names.indices.map { index in
                            MemberChange(
                                name: names[index], before: before[index].nonEmpty,
                                after: after[index].nonEmpty)
                        }))
            }
            return changes
        }
    }

    /// Removes the versions of a place, for instance since somebody's name was in one; returns how many there were.
    package func forget(_ id: Int64) throws -> Int {
        try run { connection in
            try await connection.query(
                PostgresQuery("SELECT forget_location_versions($1)", [.int8(id)])
            ).only().decode(at: 0)
        }
    }

    /// Makes the partitions of the next versions, and drops those of the months that end before so many days ago; returns a line
    /// about each.
    package func maintain(keepingDays days: Int) throws -> [String] {
        try run { try await Self.maintain($0, keepingDays: days) }
    }

    static func maintain(_ connection: PostgresConnection, keepingDays days: Int) async throws -> [String] {
        try await connection.query(PostgresQuery(maintenance, [.float8(Double(days))])).map {
            try $0.decode(at: 0)
        }
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) async throws -> Value
    ) throws -> Value {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop, body)
        }
    }

    private static let maintenance: SQL = "SELECT maintain_location_versions(now() - $1 * interval '1 day')"

    private static let members: SQL = """
        SELECT key, (members -> key)::text, (place.source_values -> key)::text, coalesce(place.source_values ? key, false) \
        FROM (SELECT locations AS place, locations.source_values, place_members(locations) AS members \
        FROM locations WHERE id = $1) AS place, \
        jsonb_object_keys(members || coalesce(source_values, '{}')) AS key ORDER BY \
        array_position(ARRAY['name', 'category', 'position', 'address', 'website', 'operating_status', 'featured', 'importance', \
        'other_names'], key), key
        """

    private static let facts: SQL = """
        SELECT array_remove(ARRAY['version ' || version, \
        'written ' || to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"'), \
        CASE WHEN source_dataset IS NULL THEN 'without a dataset' \
        ELSE 'dataset ' || source_dataset || ', there ' || source_id || ', ' || source_license END, \
        CASE WHEN import_run > 0 THEN 'import ' || import_run END], NULL) FROM locations WHERE id = $1 UNION ALL \
        SELECT array_remove(ARRAY['removed: ' || name, CASE WHEN merged_into IS NOT NULL THEN 'merged into ' || merged_into END, \
        CASE WHEN is_suppressed THEN 'suppressed: imports don''t bring it back' END, \
        CASE WHEN source_dataset IS NOT NULL THEN 'dataset ' || source_dataset || ', there ' || source_id END], NULL) \
        FROM removed_locations WHERE id = $1
        """

    /// Each version beside the one that came after it, which for the last one is the place as it is. Below corrections, what the
    /// source says is a member of its own.
    private static let changes: SQL = """
        WITH state AS ( \
        SELECT change, changed_at, operation, by_role, by_editor, by_import, version, \
        place_members(version_place(location_versions)) || coalesce((SELECT jsonb_object_agg('source of ' || key, value) \
        FROM jsonb_each(source_values) WHERE value <> 'null'), '{}') AS members FROM location_versions WHERE id = $1 \
        UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, place_members(locations) \
        || coalesce((SELECT jsonb_object_agg('source of ' || key, value) FROM jsonb_each(source_values) WHERE value <> 'null'), '{}') \
        FROM locations WHERE id = $1), \
        step AS (SELECT *, lead(members) OVER (ORDER BY change NULLS LAST) AS next_members FROM state) \
        SELECT to_char(changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"'), \
        CASE WHEN by_import IS NOT NULL THEN 'import ' || by_import WHEN by_editor IS NOT NULL \
        THEN by_editor || ' (' || by_role || ')' ELSE by_role END, version, operation = 'delete', \
        coalesce(difference.names, '{}'), coalesce(difference.before, '{}'), coalesce(difference.after, '{}') FROM step \
        LEFT JOIN LATERAL (SELECT array_agg(key ORDER BY key) AS names, \
        array_agg(coalesce(was.value::text, '') ORDER BY key) AS before, \
        array_agg(coalesce(is_now.value::text, '') ORDER BY key) AS after FROM jsonb_each(step.members) AS was \
        FULL JOIN jsonb_each(step.next_members) AS is_now USING (key) \
        WHERE was.value IS DISTINCT FROM is_now.value) AS difference ON step.operation = 'update' \
        WHERE change IS NOT NULL ORDER BY change DESC
        """
}

extension Setting where Value == Int {
    package static let historyRetention = days(
        .historyRetention, "how long it is kept what places were", default: 400, in: 1...36_500)
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
