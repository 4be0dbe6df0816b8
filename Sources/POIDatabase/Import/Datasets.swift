import EventLoop
import PointsOfInterestServerAPI
import Postgres

/// A dataset of the database, and how many places it has.
package struct DatasetSummary: Sendable, Hashable {
    /// Its name, as in `locations.source_dataset`; empty for the places without a dataset.
    package let name: String
    /// Its license; where it has no row of its own, those of its places with `AND` between.
    package let license: String
    /// What maps have to show; nil where nothing is asked for.
    package let credit: String?
    /// A page about it.
    package let url: String?
    /// How many places are from it.
    package let places: Int
    /// How its last refresh went; nil where there was none, or that wasn't asked.
    package var refresh: String?
}

package struct DatasetList: Sendable {
    private let configuration: PostgresConfiguration

    /// The datasets of the database that `database` leads to; its role only has to be allowed to read.
    package init(_ database: DatabaseConfiguration) {
        configuration = database.postgresWithoutTimeout
    }

    /// Returns the datasets by their names, and at the end the places without one, if there are any. Blocks.
    package func run() throws -> [DatasetSummary] {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                let without = try await DatasetSummary.withoutDataset(connection)
                let all = try await DatasetSummary.all(connection)
                return try await DatasetSummary.withRefreshes(all, connection)
                    + (without.places > 0 ? [without] : [])
            }
        }
    }
}

extension DatasetSummary {
    /// All datasets that have a row or places, in the order of their names.
    static func all(_ connection: PostgresConnection) async throws -> [DatasetSummary] {
        try await connection.query(query).map { row in
            DatasetSummary(
                name: try row.decode(at: 0), license: try row.decode(at: 1), credit: try row.decode(at: 2),
                url: try row.decode(at: 3), places: try row.decode(at: 4))
        }
    }

    /// The dataset with this name.
    ///
    /// - Throws: `CommandError` where there is none, with the name that was probably meant.
    static func named(_ name: String?, _ connection: PostgresConnection) async throws -> DatasetSummary {
        guard let name else { return try await withoutDataset(connection) }
        let datasets = try await all(connection)
        if let dataset = datasets.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) { return dataset }
        let meant = NearestName.find(for: name, among: datasets.map(\.name))
        throw CommandError(
            "there is no dataset \(name)"
                + (meant.map { "; did you mean \($0)?" } ?? "; poi datasets lists those that there are"))
    }

    /// The places that are of no dataset, as one without a name.
    static func withoutDataset(_ connection: PostgresConnection) async throws -> DatasetSummary {
        let count = try await connection.query("SELECT count(*) FROM locations WHERE source_dataset IS NULL")
            .only()
        return DatasetSummary(name: "", license: "", credit: nil, url: nil, places: try count.decode(at: 0))
    }

    private static let query = PostgresQuery(
        """
        SELECT coalesce(counted.dataset, datasets.name) AS name, coalesce(datasets.license, counted.license), \
        datasets.credit, datasets.url, coalesce(counted.places, 0)
        FROM (
        """ + PlaceStatements.countedDatasets + """
            ) AS counted FULL JOIN datasets ON datasets.name = counted.dataset
            ORDER BY coalesce(counted.dataset, datasets.name) COLLATE "C"
            """)
}

/// Runs `poi datasets remove`: removes a dataset with its places, in one transaction.
package struct DatasetRemoval: Sendable {
    private let configuration: PostgresConfiguration
    private let name: String

    /// Removes from the database that `database` leads to, as the tables' owner.
    package init(_ database: DatabaseConfiguration, dataset name: String) {
        configuration = database.postgresWithoutTimeout
        self.name = name
    }

    /// Removes the dataset, and returns how many places it had. Blocks.
    ///
    /// It waits for an import that is at work. SIGTERM and SIGINT end it: the database is as before then, unless the commit
    /// was under way.
    ///
    /// - Throws: `CommandError` where there is no such dataset, for an error of the database, and after a signal. The database
    ///   is as before then, except where the error says otherwise.
    package func run(_ observers: DatasetImport.Observers = .init()) throws -> Int {
        try EventLoop.runToCompletion { loop in
            let steps = ImportSteps(.counting, observers.onProgress) { ImportProgress(phase: $0) }
            return try await steps.run(on: loop) {
                try await CommandError.withConnection(configuration, loop: loop) { connection in
                    let count = try await remove(connection, steps, observers.onLine)
                    await steps.cleanUp(connection, after: "the dataset is removed", observers.onLine)
                    return count
                }
            }
        }
    }

    /// The dataset that a run would remove. Blocks.
    ///
    /// - Throws: `CommandError` where there is none, and for an error of the database.
    package func dataset() throws -> DatasetSummary {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                try await DatasetSummary.named(name, connection)
            }
        }
    }

    private func remove(
        _ connection: PostgresConnection, _ steps: ImportSteps, _ onLine: (String) -> Void
    ) async throws -> Int {
        try await steps.withTransaction(connection) {
            try await steps.lock(connection, onLine)
            let dataset = try await DatasetSummary.named(name, connection)
            steps.enter(.removing(dataset.places))
            let count = try await connection.query(
                PostgresQuery(
                    """
                    WITH removed AS (DELETE FROM locations WHERE source_dataset = $1 RETURNING 1) \
                    SELECT count(*) FROM removed
                    """, [.text(name)])
            ).only().decode(Int.self, at: 0)
            for sql: SQL in [
                "DELETE FROM datasets WHERE name = $1", "DELETE FROM dataset_refreshes WHERE dataset = $1",
            ] { _ = try await connection.query(PostgresQuery(sql, [.text(name)])) }
            return count
        }
    }
}
