import EventLoop
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres
import Program
import Telemetry

/// Edits places in PostgreSQL, by a function that does the whole edit in one statement.
///
/// Belongs to one loop, on which it has connections of its own.
package final class PostgresEditStore: EditStore {
    let pool: ConnectionPool
    let reportRetentionDays: Int

    /// Starts connecting.
    package init(
        configuration: EditDatabaseConfiguration, loop: EventLoop, connectionLog: ConnectionLog? = nil
    ) {
        reportRetentionDays = configuration.reportRetentionDays
        pool = ConnectionPool(
            configuration.postgres, options: configuration.pool, loop: loop,
            observe: { connectionLog?.observe($0) })
    }

    package func record(of id: Int64) async throws(EditError) -> EditedPlace {
        do throws(PostgresError) {
            let row = try await pool.query(EditStatements.record, [.int8(id)], isIdempotent: true).only()
            return EditedPlace(
                id: id, version: try row.decode(at: 0), json: Array(try row.decode(String.self, at: 1).utf8))
        } catch {
            throw EditError(error)
        }
    }

    package func edit(_ edit: PlaceEdit) async throws(EditError) -> EditOutcome {
        do throws(PostgresError) {
            let row = try await pool.query(EditStatements.edit, EditStatements.parameters(edit)).only()
            let revision = try row.decode(Int64?.self, at: 3)
            guard let id = try row.decode(Int64?.self, at: 0),
                let version = try row.decode(Int64?.self, at: 1),
                let json = try row.decode(String?.self, at: 2)
            else { return EditOutcome(nil, revision: revision) }
            return EditOutcome(
                EditedPlace(id: id, version: version, json: Array(json.utf8)), revision: revision)
        } catch {
            throw EditError(error)
        }
    }

    package func versions(
        of id: Int64, from position: Int64?, count: Int
    ) async throws(EditError) -> VersionsPage {
        do throws(PostgresError) {
            let rows = try await pool.query(
                EditStatements.versions,
                [.int8(id), position.map { .int8($0) } ?? .null(.int8), .int8(Int64(count + 1))],
                isIdempotent: true)
            let page = try rows.page(of: count) { row throws(PostgresError) in
                Array(try row.decode(String.self, at: 1).utf8)
            }
            return VersionsPage(items: page.items, next: page.next)
        } catch {
            throw EditError(error)
        }
    }

    package func changes(
        in box: BoundingBox?, from position: Int64?, count: Int
    ) async throws(EditError) -> VersionsPage {
        do throws(PostgresError) {
            let edges = [box?.west, box?.south, box?.east, box?.north]
            var parameters: [PostgresValue] = edges.map { $0.map { .float8($0) } ?? .null(.float8) }
            parameters += [position.map { .int8($0) } ?? .null(.int8), .int8(Int64(count))]
            let rows = try await pool.query(EditStatements.changes, parameters, isIdempotent: true)
            var (items, next) = ([[UInt8]](), Int64?.none)
            for row in rows {
                if let json = try row.decode(String?.self, at: 1) {
                    items.append(Array(json.utf8))
                } else {
                    next = try row.decode(at: 0)
                }
            }
            return VersionsPage(items: items, next: next)
        } catch {
            throw EditError(error)
        }
    }

    /// The state of the connections.
    package func collectMetrics(into snapshot: inout MetricsSnapshot) {
        snapshot.add(pool.statistics, to: .edits)
    }

    /// Closes the connections.
    package func close() async { await pool.close() }
}

/// How places are edited, and reports kept: by connections of their own, so that readers and editors don't wait for each other.
package struct EditDatabaseConfiguration: Sendable {
    /// How to connect.
    package var postgres: PostgresConfiguration
    var pool: PoolOptions
    /// How long reports are kept.
    let reportRetentionDays: Int

    /// Connections a loop.
    package static let connections = 2
    /// How long an edit may take. An import holds the rows that it changes until its end.
    private static let timeout = Duration.seconds(10)

    package init(
        from reader: inout SettingsReader, database: DatabaseConfiguration
    ) throws(ConfigurationError) {
        postgres = database.postgres
        let setting = Setting.editDatabaseURL
        if let url = try reader.readIfPresent(setting) {
            postgres = try DatabaseConfiguration.postgres(url, of: setting.name)
        }
        pool = PoolOptions()
        pool.connections = Self.connections
        pool.acquireTimeout = database.pool.acquireTimeout
        pool.queryTimeout = Self.timeout
        reportRetentionDays = try reader.read(.reportsRetention)
        postgres.makeCommitsDurable(within: pool.queryTimeout)
    }

    /// Leads to another database, with the same settings.
    package mutating func use(connectionString: String) throws(ConfigurationError) {
        postgres = try DatabaseConfiguration.postgres(connectionString, of: .databaseURL)
        postgres.makeCommitsDurable(within: pool.queryTimeout)
    }
}

extension Setting where Value == String {
    static let editDatabaseURL = text(
        .editDatabaseURL, "where places are edited, as a libpq URI; without it DATABASE_URL", isSecret: true)
}

extension PostgresRows {
    /// The items of a page, and where the next one begins: the first column of its last row, if there is one row more than it has
    /// items at most.
    func page<Item>(
        of count: Int, _ read: (PostgresRow) throws(PostgresError) -> Item
    ) throws(PostgresError) -> (items: [Item], next: Int64?) {
        var (items, last) = ([Item](), Int64?.none)
        for row in prefix(count) {
            last = try row.decode(Int64.self, at: 0)
            items.append(try read(row))
        }
        return (items, self.count > count ? last : nil)
    }
}

// MARK: - SQL

private enum EditStatements {
    static let record = PreparedStatement(
        "SELECT version, document::text FROM read_place($1)", parameters: [.int8])

    static let versions = PreparedStatement(
        "SELECT position, document::text FROM place_versions($1, $2, $3::integer)",
        parameters: [.int8, .int8, .int8])

    static let changes = PreparedStatement(
        "SELECT position, document::text FROM recent_changes($1, $2, $3, $4, $5, $6::integer)",
        parameters: [.float8, .float8, .float8, .float8, .int8, .int8])

    static let edit = PreparedStatement(
        """
        SELECT result_id, result_version, result::text, revision \
        FROM edit_place($1, $2, $3::jsonb, $4, $5, $6, $7)
        """, parameters: [.text, .int8, .text, .int8Array, .text, .text, .text])

    static func parameters(_ edit: PlaceEdit) -> [PostgresValue] {
        let (action, id, arguments) = call(edit.action)
        return [
            .text(action), id.map { .int8($0) } ?? .null(.int8), .text(arguments),
            edit.expectedVersions.map { .int8Array($0) } ?? .null(.int8Array), .text(edit.editor),
            edit.key.map { .text($0.text) } ?? .null(.text),
            edit.key.map { .text($0.digest) } ?? .null(.text),
        ]
    }

    private static func call(_ action: PlaceEdit.Action) -> (action: String, id: Int64?, arguments: String) {
        switch action {
        case .create(let changes, let dataset, let license):
            return (
                "create", nil,
                arguments { writer in
                    writer.name("members")
                    writer.value(json: changes.members[...])
                    writer.member("dataset", dataset)
                    writer.member("license", license)
                }
            )
        case .correct(let id, let changes):
            return (
                "correct", id,
                arguments { writer in
                    writer.name("members")
                    writer.value(json: changes.members[...])
                    writer.name("resets")
                    writer.value(.array(changes.resets.map { .string($0) }))
                    writer.name("readOnly")
                    writer.beginObject()
                    for (name, json) in changes.readOnly {
                        writer.name(escaping: name)
                        writer.value(json: json[...])
                    }
                    writer.endObject()
                }
            )
        case .remove(let id): return ("remove", id, "{}")
        case .restore(let id, let version):
            return ("restore", id, arguments { $0.member("version", Int(version)) })
        case .merge(let id, let other): return ("merge", id, arguments { $0.member("into", Int(other)) })
        }
    }

    private static func arguments(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        write(&writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension EditError {
    /// What an error of the database means to an editor.
    init(_ error: PostgresError) {
        switch error.code {
        case .busy: self = .busy
        // A statement that was ended, or whose connection was lost, may have committed before that.
        case .unavailable, .connectionFailed, .connectionLost, .closed, .queryTimedOut, .cancelled:
            self = .unavailable(reason: error.logText)
        case .server where error.mayPassForWriters: self = .unavailable(reason: error.logText)
        case .server:
            let detail = error.server?.detail.flatMap { Int64($0) }
            switch error.sqlState?.rawValue {
            case "P0002": self = .notFound
            case "POI09": self = detail.map { .merged(into: $0) } ?? .gone
            case "POI10": self = .gone
            case "POI12": self = .stale(version: detail)
            case "POI22": self = .keyReused
            // Somebody else has brought the place back.
            case "23505": self = .stale(version: nil)
            case _ where error.isCausedByData: self = .invalid(error.memberFaults)
            default: self = .failed(reason: error.logText)
            }
        default: self = .failed(reason: error.logText)
        }
    }
}

extension PostgresError {
    /// What of an edit only the database could find wrong.
    fileprivate var memberFaults: [Problem.MemberFault] {
        switch server?.constraintName {
        case "locations_category_fkey": [.unknownCategory]
        case "locations_properties_are_small": [.largeProperties]
        case "locations_names_are_few_lines": [.tooManyNames]
        case "version": [.unknownVersion]
        case "into": [.noOtherPlace]
        case "readOnly": (server?.detail ?? "").split(separator: ",").map { .readOnly(String($0)) }
        default: [Problem.MemberFault(pointer: "", code: .malformed, detail: "can't be stored")]
        }
    }
}
