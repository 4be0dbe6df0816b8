import EventLoop
import Locking
import PlaceImport
import PointsOfInterestAPI
import Postgres
import Program

/// A dataset as `GET /attributions` shows it.
package struct DatasetDescription: Sendable, Hashable {
    /// Its name, as in `locations.source_dataset`.
    package var name: String
    /// An SPDX identifier where there is one.
    package var license: String
    /// What the licence asks maps to show; nil leaves it as it is, an empty text removes it.
    package var credit: String?
    /// A page about the dataset; nil leaves it as it is, an empty text removes it.
    package var url: String?

    /// Describes a dataset.
    package init(name: String, license: String, credit: String? = nil, url: String? = nil) {
        (self.name, self.license, self.credit, self.url) = (name, license, credit, url)
    }

    var withoutEmptyTexts: DatasetDescription {
        var description = self
        if credit?.isEmpty == true { description.credit = nil }
        if url?.isEmpty == true { description.url = nil }
        return description
    }
}

/// What an import does with the rows that it reads.
package struct ImportOptions: Sendable {
    /// The dataset that the places belong to.
    package var dataset: DatasetDescription
    /// Whether categories that the vocabulary doesn't have are added; else their rows are rejected.
    package var addsCategories = false
    /// Whether places of the dataset and the selection that the file doesn't have are removed.
    package var removesVanished = false
    /// Whether any number of places may be removed.
    package var isForced = false
    /// Whether the import only counts what it would do.
    package var isDryRun = false
    /// How many rejected rows are accepted; nil for any number.
    package var maximumErrors: Int?

    /// Options for a dataset.
    package init(dataset: DatasetDescription) {
        self.dataset = dataset
    }
}

/// Runs `poi import`: makes the places of a dataset the same as those of a file, in one transaction.
///
/// Until the commit readers see the old places, and after it all new ones. Needs a session as the tables' owner, with the
/// right to make temporary tables.
package struct DatasetImport: Sendable {
    /// What a caller may follow. Called on the thread that runs the import, but for `onRejected`.
    package struct Observers: Sendable {
        /// Gets each rejected row and its file, on the thread that reads the file.
        package var onRejected: @Sendable (RejectedRow, _ path: String) throws -> Void = { _, _ in }
        /// Gets several times a second how far the import is.
        package var onProgress: @Sendable (ImportProgress) -> Void = { _ in }
        /// Gets a line about what a person should know.
        package var onLine: @Sendable (String) -> Void = { _ in }

        /// Follows nothing.
        package init() {}
    }

    private static let progressInterval = Duration.milliseconds(200)

    private let configuration: PostgresConfiguration
    private let source: ImportSource
    private let options: ImportOptions

    /// An import into the database that `database` leads to.
    package init(_ database: DatabaseConfiguration, _ source: ImportSource, _ options: ImportOptions) {
        var configuration = database.postgres
        configuration.statementTimeout = nil
        self.configuration = configuration
        self.source = source
        self.options = options
    }

    /// Runs the import. Blocks.
    ///
    /// SIGTERM and SIGINT end it: the database is as before then, unless the commit was under way.
    /// - Throws: `ImportError` for a file that can't be read on; `CommandError` for an error of the database, for what would
    ///   remove too much, and after a signal. The database is as before then, except where the error says otherwise.
    package func run(_ observers: Observers = Observers()) throws -> ImportReport {
        try EventLoop.runToCompletion { loop in
            let stop = try StopRequest(loop: loop)
            let rows = ImportRows(source, loop: loop, onRejected: observers.onRejected)
            let phase = Lock(ImportProgress.Phase.reading)
            let timer = LoopTimer(loop: loop) {
                let read = rows.progress
                observers.onProgress(
                    ImportProgress(
                        phase: phase.withLock { $0 }, rows: read.rows, bytes: read.bytes,
                        totalBytes: read.totalBytes))
            }
            timer.start(after: Self.progressInterval, repeating: Self.progressInterval)
            let task = Task(executorPreference: loop) {
                try await importRows(rows, observers, phase, loop: loop)
            }
            // A commit can't be cut off any more: it can only be waited for.
            stop.onSignal = { if phase.withLock({ $0 }) != .committing { task.cancel() } }
            var result = await task.result
            let signal = stop.reason
            timer.close()
            await stop.close()
            if case .failure = result, let signal, phase.withLock({ $0 }) != .committing {
                result = .failure(CommandError("stopped by \(signal): nothing was changed"))
            }
            return try result.get()
        }
    }

    private func importRows(
        _ rows: ImportRows, _ observers: Observers, _ phase: Lock<ImportProgress.Phase>, loop: EventLoop
    ) async throws -> ImportReport {
        try await CommandError.withConnection(configuration, loop: loop) { connection in
            let transaction = ImportTransaction(
                connection: connection, rows: rows, options: options, source: source, phase: phase,
                onLine: observers.onLine)
            let report = try await transaction.run()
            guard !options.isDryRun else { return report }
            if report.hasChanges {
                phase.withLock { $0 = .vacuuming }
                guard await vacuum(connection, observers.onLine) else { return report }
            }
            await IndexRebuild(
                connection: connection, onBegin: { phase.withLock { $0 = .rebuilding } },
                onLine: observers.onLine
            ).run()
            return report
        }
    }

    /// Updates the planner's statistics, and lets searches read the indexes alone. Searches work without it, so a failure or
    /// a signal here doesn't fail the import.
    ///
    /// - Returns: whether it was done.
    private func vacuum(_ connection: PostgresConnection, _ onLine: (String) -> Void) async -> Bool {
        do {
            try await connection.unsafeExecuteScript("VACUUM (ANALYZE) locations")
            return true
        } catch {
            onLine("the import is in the database; what is left is VACUUM (ANALYZE) locations")
            return false
        }
    }
}

/// Whether a signal has asked a command to end.
///
/// Confined to the loop.
final class StopRequest {
    private let signals: StopSignals
    private var task: Task<Void, Never>?
    /// The signal's name, once one has come.
    private(set) var reason: String?
    /// Called when a signal comes.
    var onSignal: (() -> Void)?

    init(loop: EventLoop) throws {
        signals = try StopSignals(loop: loop)
        let request = LoopBound(self, loop: loop)
        let signals = LoopBound(signals, loop: loop)
        task = Task(executorPreference: loop) {
            let name = await signals.value.first()
            request.value.reason = name
            request.value.onSignal?()
        }
    }

    /// Restores the default effect of the signals.
    func close() async {
        onSignal = nil
        signals.ask("the end")
        await task?.value
        signals.close()
    }
}
