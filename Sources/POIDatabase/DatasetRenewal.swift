import EventLoop
import Places
import Postgres

/// Runs `poi reindex`: begins a new revision of the dataset that doesn't say which places it has changed. So every server
/// reads all places again, and no earlier entity tag is confirmed.
package struct DatasetRenewal: Sendable {
    private let configuration: PostgresConfiguration

    /// Renews the dataset of the database that `database` leads to; its role must own the tables.
    package init(_ database: DatabaseConfiguration) {
        configuration = database.postgres
    }

    /// Renews the dataset, and passes a line that says so to `onLine`. Blocks.
    ///
    /// - Throws: `CommandError` for an error of the database, and where the trigger that renews is disabled or missing: then
    ///   nothing has changed.
    package func run(onLine: @escaping @Sendable (String) -> Void) throws {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                _ = try await connection.query("BEGIN")
                let before = try await version(connection)
                for statement in Self.renewal { _ = try await connection.query(statement) }
                let after = try await version(connection)
                guard before != after else {
                    throw CommandError(
                        "the trigger dataset_changes_renew_dataset is disabled or missing: enable it first")
                }
                _ = try await connection.query("COMMIT")
                onLine("revision \(after.revision): every server reads all places again")
            }
        }
    }

    private func version(_ connection: PostgresConnection) async throws -> DatasetVersion {
        try await connection.query(Self.version).only().decode(at: 0)
    }

    private static let version: PostgresQuery = "SELECT version FROM dataset"

    /// The INSERT marks the transaction as TRUNCATE does, so it has the same consequences. The trigger, which otherwise waits
    /// for the commit, runs at once, so that `run` sees whether it works.
    private static let renewal: [PostgresQuery] = [
        "INSERT INTO dataset_changes (place_ids) VALUES (NULL)",
        "SET CONSTRAINTS dataset_changes_renew_dataset IMMEDIATE",
    ]
}
