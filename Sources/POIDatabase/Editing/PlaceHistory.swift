import EventLoop
import Foundation
import PointsOfInterestAPI
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

    /// The places of the database that `database` leads to, as the tables' owner, or
    /// as the role that may edit.
    package init(_ database: DatabaseConfiguration) {
        configuration = database.postgresWithoutTimeout
    }

    /// The place. Blocks, as all of these do.
    ///
    /// - Throws: `CommandError` where there never was one, and for an error of the database.
    package func record(of id: Int64) throws -> Record {
        try run { connection in
            let row = try await connection.query(PostgresQuery(Self.record, [.int8(id)])).only()
            guard let json = try row.decode(String?.self, at: 0) else {
                throw CommandError("there is no place \(id), and never was one")
            }
            return Record(try JSONDecoder().decode(StoredRecord.self, from: Data(json.utf8)))
        }
    }

    /// What has changed it, the newest first.
    package func changes(of id: Int64, limit: Int = 1000) throws -> [Change] {
        try run { connection in
            let query = PostgresQuery(Self.changes, [.int8(id), .int8(Int64(limit))])
            return try await connection.query(query).map { row in
                let json: String = try row.decode(at: 4)
                let members = try JSONDecoder().decode([String: StoredChange].self, from: Data(json.utf8))
                return Change(
                    time: try row.decode(at: 0), who: try row.decode(at: 1), version: try row.decode(at: 2),
                    isRemoval: try row.decode(at: 3),
                    members: members.sorted { $0.key < $1.key }.map { name, change in
                        MemberChange(
                            name: name, before: change.before?.jsonText, after: change.after?.jsonText)
                    })
            }
        }
    }

    /// Removes the versions of a place, for instance since somebody's name was in one; returns how many there were.
    package func forget(_ id: Int64) throws -> Int {
        try run { connection in
            try await connection.query(
                PostgresQuery(
                    // What edits were told of the place is kept for a day.
                    "WITH told AS (DELETE FROM edit_requests WHERE place_id = $1) SELECT forget_location_versions($1)",
                    [.int8(id)])
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

    private static let record: SQL = "SELECT place_record($1)::text"
    private static let changes: SQL = """
        SELECT to_char(changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"'), who, version, is_removal, members::text \
        FROM place_changes($1, NULL, $2::integer)
        """
}

/// What `place_record` returns.
private struct StoredRecord: Decodable {
    let id: Int64
    let version: Int64?
    let updatedAt: String?
    let members: [String: JSONValue]?
    let source: [String: JSONValue]?
    let dataset: String?
    let sourceId: String?
    let license: String?
    let `import`: Int64?
    /// The name of a removed place.
    let removed: String?
    let isSuppressed: Bool?
    let mergedInto: Int64?
}

private struct StoredChange: Decodable {
    let before: JSONValue?
    let after: JSONValue?
}

extension PlaceHistory.Record {
    fileprivate init(_ stored: StoredRecord) {
        let dataset = stored.dataset.map { "dataset \($0), there \(stored.sourceId ?? "")" }
        let facts: [String?]
        if let version = stored.version {
            facts = [
                "version \(version)", stored.updatedAt.map { "written \($0)" },
                dataset.map { "\($0), \(stored.license ?? "")" } ?? "without a dataset",
                stored.import.map { "import \($0)" },
            ]
        } else {
            facts = [
                "removed: \(stored.removed ?? "")", stored.mergedInto.map { "merged into \($0)" },
                stored.isSuppressed == true ? "suppressed: imports don't bring it back" : nil, dataset,
            ]
        }
        let (members, source) = (stored.members ?? [:], stored.source ?? [:])
        self.init(
            id: stored.id, facts: facts.compactMap(\.self),
            members: Set(members.keys).union(source.keys).sorted(by: Self.isBefore).map { name in
                PlaceHistory.Member(
                    name: name, value: members[name]?.jsonText, source: source[name]?.jsonText,
                    isCorrected: source[name] != nil)
            })
    }

    private static let order = [
        "name", "category", "position", "address", "website", "operating_status", "featured", "importance",
        "other_names",
    ]

    /// What every place may have comes first.
    private static func isBefore(_ one: String, _ other: String) -> Bool {
        let places = [one, other].map { order.firstIndex(of: $0) ?? order.count }
        return places[0] == places[1] ? one < other : places[0] < places[1]
    }
}

extension JSONValue {
    /// As people read it.
    var jsonText: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

extension Setting where Value == Int {
    package static let historyRetention = days(
        .historyRetention, "how long it is kept what places were", default: 400, in: 1...36_500)
}
