import EventLoop
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
    package var removesVanished = false
    /// What is allowed that would otherwise be refused.
    package var allowed = ImportAllowances()
    /// Whether the import only counts what it would do.
    package var isDryRun = false
    /// What a reviewer refuses of it: these places are left as they are.
    package var refused = RefusedChanges()
    /// How many days the history keeps what places were.
    package var historyDays = 400
    /// How many rejected rows are accepted; nil for ten, or a tenth of all rows.
    package var maximumErrors: Int?

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
        /// Gets each rejected row as bytes of a file of rejected rows, on the thread that reads the file.
        package var onRejected: (@Sendable ([UInt8]) throws -> Void)?
        /// Gets a line of JSON about each place that changes, before anything does.
        package var onChange: (@Sendable ([UInt8]) throws -> Void)?
        /// Gets at the beginning of each step, and several times a second while it lasts, how far the import is.
        package var onProgress: @Sendable (ImportProgress) -> Void
        /// Gets a line about what a person should know.
        package var onLine: @Sendable (String) -> Void = { _ in }

        /// Follows nothing but the progress, if that.
        package init(onProgress: @escaping @Sendable (ImportProgress) -> Void = { _ in }) {
            self.onProgress = onProgress
        }
    }

    private let configuration: PostgresConfiguration
    private let source: ImportSource
    private let options: ImportOptions

    package init(_ database: DatabaseConfiguration, _ source: ImportSource, _ options: ImportOptions) {
        configuration = database.postgresWithoutTimeout
        self.source = source
        self.options = options
    }

    /// Runs the import. Blocks.
    ///
    /// SIGTERM and SIGINT end it: the database is as before then, unless the commit was under way.
    ///
    /// - Throws: `ImportError` for a file that can't be read on; `CommandError` for an error of the database, for what would
    ///   remove too much, and after a signal. The database is as before then, except where the error says otherwise.
    package func run(_ observers: Observers = Observers()) throws -> ImportReport {
        try EventLoop.runToCompletion { loop in
            let rows = ImportRows(source, loop: loop, onRejected: observers.onRejected)
            let steps = ImportSteps(.reading, observers.onProgress) { phase in
                let read = rows.progress
                return ImportProgress(
                    phase: phase, rows: read.rows, bytes: read.bytes, totalBytes: read.totalBytes)
            }
            return try await steps.run(on: loop) {
                try await importRows(rows, observers, steps, loop: loop)
            }
        }
    }

    private func importRows(
        _ rows: ImportRows, _ observers: Observers, _ steps: ImportSteps, loop: EventLoop
    ) async throws -> ImportReport {
        try await CommandError.withConnection(configuration, loop: loop) { connection in
            let transaction = ImportTransaction(
                connection: connection, rows: rows, options: options, source: source, steps: steps,
                onReport: observers.onChange, onLine: observers.onLine)
            let report = try await transaction.run()
            guard !options.isDryRun, report.hasChanges else { return report }
            await steps.cleanUp(connection, after: "the import is in the database", observers.onLine)
            // What isn't done now, because somebody holds a lock, the next import does.
            _ = try? await PlaceHistory.maintain(connection, keepingDays: options.historyDays)
            return report
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
