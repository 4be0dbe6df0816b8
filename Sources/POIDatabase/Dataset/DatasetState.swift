import EventLoop
import Locking
import Places
import PointsOfInterestAPI
import Postgres

/// What a process knows about the data without reading the database. Its stores share it; one `DatasetWatcher` keeps it up to
/// date.
///
/// Any thread.
public final class DatasetState: Sendable {
    private struct State {
        var datasetID: DatasetID?
        var vocabulary: FilterVocabulary?
        var renewalObserver: (@Sendable (DatasetID?) -> Void)?
    }

    private let state = Lock(State())
    private let isWatched = Lock(false)
    /// The number of places of each category, counted once for all stores.
    let categoryCounts: SharedCounts<CategoryCount>
    /// The number of places of each source dataset, counted once for all stores.
    let attributionCounts: SharedCounts<Attribution>

    /// Makes a state that knows nothing yet.
    public convenience init() {
        self.init(countingMultiple: 10)
    }

    /// Knows nothing yet, and counts places by a `CountSchedule` with this multiple.
    init(countingMultiple: Int) {
        categoryCounts = SharedCounts(schedule: CountSchedule(multiple: countingMultiple))
        attributionCounts = SharedCounts(schedule: CountSchedule(multiple: countingMultiple))
    }

    /// The dataset that a page read now would most likely come from; nil while that isn't known.
    var datasetID: DatasetID? { state.withLock { $0.datasetID } }

    /// The names that were read last. Outdated names do no harm: a name that is gone matches no place.
    var vocabulary: FilterVocabulary? { state.withLock { $0.vocabulary } }

    /// Returns true to the first caller only, which then has to keep this up to date.
    func claimWatch() -> Bool { isWatched.claim() }

    /// Takes the current dataset; nil while it isn't known.
    func update(datasetID: DatasetID?) {
        state.withLock { $0.datasetID = datasetID }
    }

    /// Calls `observer` with each notification of a renewal, with the new dataset's id where that is known. Notifications may
    /// be missing. One observer; it is called on the watcher's loop.
    func onRenewal(_ observer: @escaping @Sendable (DatasetID?) -> Void) {
        state.withLock { $0.renewalObserver = observer }
    }

    /// Passes a notification of a renewal to the observer.
    func noteRenewal(_ id: DatasetID?) {
        state.withLock { $0.renewalObserver }?(id)
    }

    /// Takes the names that the watcher has read.
    func update(vocabulary: FilterVocabulary) {
        state.withLock { $0.vocabulary = vocabulary }
    }
}

/// Runs `poi reindex`: begins a new revision of the dataset that doesn't say which places it has changed. So every server
/// reads all places again, and no earlier entity tag is confirmed.
public struct DatasetRenewal: Sendable {
    private let configuration: PostgresConfiguration

    /// Renews the dataset of the database that `database` leads to; its role must own the tables.
    public init(_ database: DatabaseConfiguration) {
        configuration = database.postgres
    }

    /// Renews the dataset, and passes a line that says so to `onLine`. Blocks.
    ///
    /// - Throws: `CommandError` for an error of the database, and where the trigger that renews is disabled or missing: then
    ///   nothing has changed.
    public func run(onLine: @escaping @Sendable (String) -> Void) throws {
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
