import EventLoop
import PlaceImport
import Postgres

/// From where a dataset is refreshed, and how that went, in the database. Each call is a transaction of its own, and blocks.
package struct DatasetRefresh: Sendable {
    private let configuration: PostgresConfiguration
    private let dataset: String

    /// - Parameter database: as the tables' owner.
    package init(_ database: DatabaseConfiguration, dataset: String) {
        configuration = database.postgresWithoutTimeout
        self.dataset = dataset
    }

    /// Where its last imported file came from, nil where there was none; and that file's tag, unless the dataset has been
    /// imported otherwise since, or that import was taken back.
    package func source() throws -> (url: String, tag: DownloadTag?)? {
        let rows = try run(
            """
            SELECT source, etag, last_modified, \
            coalesce(import_id = (SELECT max(id) FROM import_runs WHERE import_runs.dataset = $1), false) \
            FROM dataset_refreshes WHERE dataset = $1 AND source IS NOT NULL
            """)
        guard let row = rows.first else { return nil }
        let tag = DownloadTag(etag: try row.decode(at: 1), lastModified: try row.decode(at: 2))
        let counts = try row.decode(Bool.self, at: 3) && (tag.etag ?? tag.lastModified) != nil
        return (try row.decode(at: 0), counts ? tag : nil)
    }

    package func begin() throws {
        _ = try run(
            """
            INSERT INTO dataset_refreshes (dataset) VALUES ($1) ON CONFLICT (dataset) DO UPDATE SET attempted_at = now()
            """)
    }

    /// Notes that a file was imported, and where it came from.
    package func succeeded(_ url: DownloadURL, _ tag: DownloadTag, run: Int64?) throws {
        _ = try self.run(
            """
            UPDATE dataset_refreshes SET succeeded_at = now(), is_unchanged = false, source = $2, etag = $3, \
            last_modified = $4, import_id = $5 WHERE dataset = $1
            """,
            [
                .text(url.text), Self.text(tag.etag), Self.text(tag.lastModified),
                run.map { .int8($0) } ?? .null(.int8),
            ])
    }

    /// Notes that the file is still the one that was imported.
    package func foundUnchanged() throws {
        _ = try run(
            "UPDATE dataset_refreshes SET succeeded_at = now(), is_unchanged = true WHERE dataset = $1")
    }

    package func failed(_ reason: String) throws {
        let line = String(reason.printable.prefix(500))
        _ = try run(
            "UPDATE dataset_refreshes SET failed_at = now(), failure = $2 WHERE dataset = $1", [.text(line)])
    }

    /// Forgets the source and how refreshes went; returns whether there was anything.
    package func forget() throws -> Bool {
        try !run("DELETE FROM dataset_refreshes WHERE dataset = $1 RETURNING 1").isEmpty
    }

    private static func text(_ text: String?) -> PostgresValue { text.map { .text($0) } ?? .null(.text) }

    private func run(_ sql: SQL, _ values: [PostgresValue] = []) throws -> PostgresRows {
        try EventLoop.runToCompletion { [configuration, dataset] loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                try await connection.query(PostgresQuery(sql, [.text(dataset)] + values))
            }
        }
    }
}

extension DatasetSummary {
    /// The same with how the last refresh of each went, and those that were never imported since that failed.
    static func withRefreshes(
        _ datasets: [DatasetSummary], _ connection: PostgresConnection
    ) async throws -> [DatasetSummary] {
        var datasets = datasets
        for row in try await connection.query(refreshes) {
            let (name, outcome) = (try row.decode(String.self, at: 0), try row.decode(String.self, at: 1))
            if let index = datasets.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
                datasets[index].refresh = outcome
            } else {
                datasets.append(
                    DatasetSummary(
                        name: name, license: "", credit: nil, url: nil, places: 0, refresh: outcome))
            }
        }
        return datasets
    }

    private static let refreshes: PostgresQuery = """
        SELECT dataset, CASE WHEN coalesce(attempted_at > greatest(succeeded_at, failed_at), true) \
        THEN 'began ' || to_char(attempted_at AT TIME ZONE 'UTC', form) \
        WHEN failed_at >= coalesce(succeeded_at, failed_at) \
        THEN 'failed ' || to_char(failed_at AT TIME ZONE 'UTC', form) || ': ' || failure \
        ELSE to_char(succeeded_at AT TIME ZONE 'UTC', form) || \
        CASE WHEN is_unchanged THEN ', unchanged since import ' ELSE ', import ' END || import_id END \
        FROM dataset_refreshes, (VALUES ('YYYY-MM-DD HH24:MI:SS"Z"')) AS forms (form) ORDER BY dataset COLLATE "C"
        """
}
