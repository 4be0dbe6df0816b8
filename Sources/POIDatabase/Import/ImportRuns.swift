import EventLoop
import PlaceImport
import PointsOfInterestAPI
import Postgres

/// An import that is at work, in the table of imports.
struct ImportRun {
    let id: Int64
    private let before: String?

    /// Notes that an import begins, so that versions have its number.
    static func begin(
        _ connection: PostgresConnection, dataset: String, source: ImportSource
    ) async throws -> ImportRun {
        let row = try await connection.query(
            PostgresQuery(
                insert, [.text(dataset), .textArray(source.names), .text(RememberedOptions(source).json)])
        ).only()
        return ImportRun(id: try row.decode(at: 0), before: try row.decode(at: 1))
    }

    /// Notes what it did.
    func end(_ connection: PostgresConnection, _ report: ImportReport) async throws {
        let counts: [Int] = [
            report.added, report.changed, report.removed, report.kept, report.suppressed,
            report.rejectedCount,
        ]
        _ = try await connection.query(
            PostgresQuery(
                Self.finish,
                [.int8(id), before.map { .text($0) } ?? .null(.text)] + counts.map { .int8(Int64($0)) }))
    }

    private static let insert: SQL = """
        WITH run AS (INSERT INTO import_runs (dataset, files, options) VALUES ($1, $2, $3::jsonb) RETURNING id) \
        SELECT id, (SELECT to_jsonb(datasets)::text FROM datasets WHERE name = $1), \
        set_config('poi.import_run', id::text, true) FROM run
        """

    private static let finish: SQL = """
        UPDATE import_runs SET change = current_place_change(), counts = jsonb_build_object('added', $3::bigint, \
        'changed', $4::bigint, 'removed', $5::bigint, 'kept', $6::bigint, 'suppressed', $7::bigint, 'rejected', $8::bigint), \
        dataset_before = $2::jsonb, \
        dataset_after = (SELECT to_jsonb(datasets) FROM datasets WHERE datasets.name = import_runs.dataset) WHERE id = $1
        """
}

/// How a dataset was imported: the options that a later import of it takes where it isn't given them.
package struct RememberedOptions: Sendable, Equatable {
    /// The options' values by their names: `--mapping`.
    package let values: [String: String]

    package init(values: [String: String]) { self.values = values }

    init(_ source: ImportSource) { values = source.rememberedOptions }

    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            writer.name(escaping: name)
            writer.value(value)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// An import, as `poi imports` lists it.
package struct ImportRecord: Sendable, Hashable {
    package let id: Int64
    package let dataset: String
    /// When it began, as `2026-11-30 23:45:12Z`.
    package let time: String
    package let role: String
    package let files: [String]
    /// What it did, in the order in which it is shown.
    package let counts: [String]
    /// The import that it took back; nil for most.
    package let reverts: Int64?
    package let isReverted: Bool
}

/// Reads and takes back what was imported.
package struct ImportHistory: Sendable {
    private let configuration: PostgresConfiguration

    /// The imports of the database that `database` leads to, as the tables' owner.
    package init(_ database: DatabaseConfiguration) {
        configuration = database.postgresWithoutTimeout
    }

    /// Returns the imports, the newest first; of one dataset if it is given. Blocks.
    package func list(of dataset: String?, limit: Int) throws -> [ImportRecord] {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                let query = PostgresQuery(
                    Self.list, [dataset.map { .text($0) } ?? .null(.text), .int8(Int64(limit))])
                return try await connection.query(query).map { row in
                    ImportRecord(
                        id: try row.decode(at: 0), dataset: try row.decode(at: 1),
                        time: try row.decode(at: 2),
                        role: try row.decode(at: 3), files: try row.decode(at: 4),
                        counts: try row.decode(at: 5),
                        reverts: try row.decode(at: 6), isReverted: try row.decode(at: 7))
                }
            }
        }
    }

    /// The options of the dataset's last import that wasn't taken back; none where there is none. Blocks.
    package func options(of dataset: String) throws -> (options: RememberedOptions, license: String?)? {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                let license = try await connection.query(
                    PostgresQuery(ImportStatements.description, [.text(dataset)])
                ).first
                let rows = try await connection.query(PostgresQuery(Self.options, [.text(dataset)]))
                guard license != nil || !rows.isEmpty else { return nil }
                var values: [String: String] = [:]
                for row in rows { values[try row.decode(at: 0)] = try row.decode(at: 1) as String }
                return (RememberedOptions(values: values), try license?.decode(String.self, at: 0))
            }
        }
    }

    /// Takes an import back. Blocks.
    ///
    /// It waits for an import that is at work. SIGTERM and SIGINT end it: the database is as before then, unless the commit was
    /// under way.
    ///
    /// - Throws: `CommandError` where there is no such import, or a later one has to go first; and for an error of the database.
    package func revert(_ id: Int64, _ observers: DatasetImport.Observers = .init()) throws -> ImportReversal
    {
        try EventLoop.runToCompletion { loop in
            let steps = ImportSteps(.comparing, observers.onProgress) { ImportProgress(phase: $0) }
            return try await steps.run(on: loop) {
                try await CommandError.withConnection(configuration, loop: loop) { connection in
                    let reversal = try await steps.withTransaction(connection) {
                        try await steps.lock(connection, observers.onLine)
                        return try await ImportReversal(of: id, connection)
                    }
                    await steps.cleanUp(connection, after: "the import is taken back", observers.onLine)
                    return reversal
                }
            }
        }
    }

    private static let list: SQL = """
        SELECT id, dataset, to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"'), by_role, files, \
        ARRAY(SELECT name || ' ' || (counts ->> name) \
        FROM unnest(ARRAY['added', 'changed', 'removed', 'kept', 'suppressed', 'rejected']) AS name \
        WHERE counts ->> name <> '0'), reverts, reverted_at IS NOT NULL FROM import_runs \
        WHERE $1::text IS NULL OR dataset = $1 ORDER BY id DESC LIMIT $2
        """
    private static let options: SQL = """
        SELECT key, value FROM jsonb_each_text((SELECT options FROM import_runs \
        WHERE dataset = $1 AND reverts IS NULL AND reverted_at IS NULL ORDER BY id DESC LIMIT 1))
        """
}

/// What became of an import that was taken back.
package struct ImportReversal: Sendable, Hashable {
    /// A place that stays as it is, or some of its members, since they have changed after the import.
    package struct Kept: Sendable, Hashable {
        package let id: Int64
        package let name: String
        package let reason: String
        /// None where the whole place stays.
        package let members: [String]
    }

    /// How many places are as before, are there again, and are gone again.
    package var (changed, added, removed) = (0, 0, 0)
    package var kept: [Kept] = []

    /// Takes it back, in the connection's transaction.
    init(of id: Int64, _ connection: PostgresConnection) async throws {
        kept = try await connection.query(
            PostgresQuery("SELECT kept_id, kept_name, reason, members FROM revert_import($1)", [.int8(id)])
        ).map { row in
            Kept(
                id: try row.decode(at: 0), name: try row.decode(at: 1), reason: try row.decode(at: 2),
                members: try row.decode(at: 3))
        }
        let row = try await connection.query(PostgresQuery(Self.counts, [.int8(id)])).only()
        (changed, added, removed) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
    }

    private static let counts: SQL = """
        SELECT (counts ->> 'changed')::bigint, (counts ->> 'added')::bigint, (counts ->> 'removed')::bigint \
        FROM import_runs WHERE reverts = $1 ORDER BY id DESC LIMIT 1
        """
}
