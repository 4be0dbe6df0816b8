import EventLoop
import PlaceImport
import Postgres

/// The one transaction of an import, in its own session.
struct ImportTransaction {
    let connection: PostgresConnection
    let rows: ImportRows
    let options: ImportOptions
    let source: ImportSource
    let steps: ImportSteps
    let onLine: (String) -> Void

    private var selection: ImportStatements.Selection {
        ImportStatements.Selection(
            dataset: options.dataset.name, box: source.boundingBox, categories: source.categories.sorted())
    }

    /// Runs the whole import; returns its report once it is committed.
    ///
    /// - Throws: `CommandError`, `ImportError`, `PostgresError`; then the database is as before.
    func run() async throws -> ImportReport {
        try await steps.withTransaction(connection) {
            try await steps.lock(connection, onLine)
            try await stage()
            let report = try await apply()
            // To COPY, reading that was cut off looks like reading that has ended.
            guard rows.hasEnded, !Task.isCancelled else { throw CancellationError() }
            return report
        }
    }

    /// Copies the file's rows into a temporary table.
    private func stage() async throws {
        var vocabulary: Set<String> = []
        for row in try await connection.query(PostgresQuery(ImportStatements.vocabulary)) {
            vocabulary.insert(try row.decode(at: 0))
        }
        steps.enter(.reading)
        let remark = try await rows.open(
            with: RowStager(
                vocabulary: vocabulary, addsCategories: options.addsCategories,
                maximumErrors: options.maximumErrors))
        if let remark { onLine(remark) }
        try await run(ImportStatements.createRows)
        try await connection.copy(ImportStatements.copyRows, from: rows.chunks)
        try refuseNothing()
        if let rejectionRefusal, !options.isDryRun {
            throw CommandError("\(rejectionRefusal); nothing was changed")
        }
    }

    /// Refuses files of which no row could be taken: an option is missing, or they are other files than was thought.
    private func refuseNothing() throws(ImportError) {
        let (count, unknown) = (rows.stager.rejectedCount, rows.stager.rejected[.unknownCategory] ?? 0)
        guard rows.hasEnded, count > 0, count == rows.progress.rows - rows.progress.notSelected else {
            return
        }
        var error = ImportError(
            "none of \(count) rows can be imported: \(rows.stager.reasons)", path: source.paths.first)
        error.isAboutFields = unknown < count
        throw error
    }

    /// Why nothing may be changed, since so many rows were rejected; nil where that is allowed.
    private var rejectionRefusal: String? {
        let (count, all) = (rows.stager.rejectedCount, rows.progress.rows)
        guard options.maximumErrors == nil, count > RowStager.harmlessRejections(among: all) else {
            return nil
        }
        return
            "\(count) of \(all) rows were rejected, more than 10 %: \(rows.stager.reasons). If the others are to be imported, "
            + "repeat it with --max-errors \(count)"
    }

    /// Counts what is to do, and does it.
    private func apply() async throws -> ImportReport {
        steps.enter(.comparing)
        try await run(ImportStatements.analyzeRows)
        let duplicates = try await value(PostgresQuery(ImportStatements.removeDuplicates), as: Int.self)
        let dropped = try await dropWhatDoesNotFit()
        let description = try await newDescription()
        let counts = try await count(changesDescription: description != nil)
        let plan = ImportPlan(counts, isForced: options.isForced)
        var report = report(
            counts, duplicates: duplicates, dropped: dropped,
            refusal: rejectionRefusal ?? plan.refusal)
        report.moved = try await movedPlaces(counts)
        guard !options.isDryRun else { return report }
        if let refusal = plan.refusal { throw CommandError("\(refusal); nothing was changed") }
        for step in plan.steps {
            if let phase = step.phase(counts) { steps.enter(phase) }
            _ = try await connection.query(query(for: step, description))
        }
        return report
    }

    /// Drops properties and names that the table wouldn't take; returns of how many rows each.
    private func dropWhatDoesNotFit() async throws -> (properties: Int, names: Int) {
        func drop(_ sql: SQL) async throws -> Int {
            try await value(PostgresQuery(sql, [.text(options.dataset.name)]))
        }
        let own = try await value(PostgresQuery(ImportStatements.dropProperties), as: Int.self)
        let merged = rows.stager.mergesProperties ? try await drop(ImportStatements.dropMergedProperties) : 0
        return (own + merged, rows.stager.mergesNames ? try await drop(ImportStatements.dropMergedNames) : 0)
    }

    /// The places that may be there twice afterwards, since they have moved and have no id.
    private func movedPlaces(_ counts: ImportCounts) async throws -> MovedPlaces? {
        guard counts.added > 0, rows.stager.hasPlacesWithoutID, !options.removesVanished else { return nil }
        let query = PostgresQuery(ImportStatements.moved, [.text(options.dataset.name)])
        var moved = MovedPlaces()
        for row in try await connection.query(query) {
            let meters: Double = try row.decode(at: 1)
            moved.farthest.append(.init(name: try row.decode(at: 0), meters: meters))
            moved.count = try row.decode(at: 2)
        }
        return moved.count > 0 ? moved : nil
    }

    private func query(for step: ImportPlan.Step, _ description: DatasetDescription?) -> PostgresQuery {
        let values: [PostgresValue] = [.text(options.dataset.name), .text(options.dataset.license)]
        switch step {
        case .addCategories:
            return PostgresQuery(ImportStatements.addCategories, [.textArray(newCategories)])
        case .remove: return selection.removeVanished
        case .update: return PostgresQuery(ImportStatements.update, values)
        case .insert: return PostgresQuery(ImportStatements.insert, values)
        case .describeDataset:
            let texts = [description?.credit, description?.url].map { text in
                text.map { PostgresValue.text($0) } ?? .null(.text)
            }
            return PostgresQuery(ImportStatements.describeDataset, values + texts)
        }
    }

    private var newCategories: [String] { rows.stager.newCategories.sorted() }

    /// What the dataset's row has to become; nil if it already is that.
    private func newDescription() async throws -> DatasetDescription? {
        var wanted = options.dataset
        let rows = try await connection.query(
            PostgresQuery(ImportStatements.description, [.text(wanted.name)]))
        guard let row = rows.first else { return wanted.withoutEmptyTexts }
        let present = DatasetDescription(
            name: wanted.name, license: try row.decode(at: 0), credit: try row.decode(at: 1),
            url: try row.decode(at: 2))
        wanted.credit = wanted.credit ?? present.credit
        wanted.url = wanted.url ?? present.url
        wanted = wanted.withoutEmptyTexts
        return wanted == present ? nil : wanted
    }

    private func count(changesDescription: Bool) async throws -> ImportCounts {
        var counts = ImportCounts()
        let row = try await connection.query(
            PostgresQuery(
                ImportStatements.count, [.text(options.dataset.name), .text(options.dataset.license)])
        ).only()
        (counts.added, counts.changed) = (try row.decode(at: 0), try row.decode(at: 1))
        counts.unchanged = try row.decode(Int.self, at: 2) - counts.added - counts.changed
        if options.removesVanished {
            counts.vanished = try await value(selection.countVanished)
            counts.selected = try await value(selection.count)
        }
        counts.newCategories = newCategories.count
        counts.changesDescription = changesDescription
        return counts
    }

    private func report(
        _ counts: ImportCounts, duplicates: Int, dropped: (properties: Int, names: Int), refusal: String?
    ) -> ImportReport {
        let (progress, stager) = (rows.progress, rows.stager)
        var report = ImportReport()
        report.read = progress.rows
        report.notSelected = progress.notSelected
        report.normalised = progress.normalised
        report.remarks = [progress.leftOutLine].compactMap(\.self) + progress.remarks
        if dropped.properties > 0 { report.normalised[.propertiesDropped, default: 0] += dropped.properties }
        if dropped.names > 0 { report.normalised[.namesDropped, default: 0] += dropped.names }
        report.rejected = stager.rejected
        report.unknownCategories = stager.unknownCategories
        report.addedCategories = newCategories
        report.duplicates = duplicates
        (report.added, report.changed) = (counts.added, counts.changed)
        (report.unchanged, report.removed) = (counts.unchanged, counts.vanished)
        report.refusal = refusal
        return report
    }

    private func run(_ sql: SQL) async throws {
        _ = try await connection.query(PostgresQuery(sql))
    }

    private func value<Value: PostgresDecodable>(
        _ query: PostgresQuery, as type: Value.Type = Value.self
    ) async throws -> Value {
        try await connection.query(query).only().decode(at: 0)
    }
}

struct ImportCounts: Hashable, Sendable {
    var added = 0
    /// Places that the dataset has, but with other values than the file.
    var changed = 0
    /// Places that are the same in both.
    var unchanged = 0
    var vanished = 0
    /// All places of the dataset and the selection.
    var selected = 0
    /// Categories of the file that the vocabulary doesn't have.
    var newCategories = 0
    /// Whether the dataset's own row changes.
    var changesDescription = false
}

/// What an import does to the database. A value, so that tests need no database.
struct ImportPlan: Hashable, Sendable {
    /// A statement that changes something.
    enum Step: Hashable, Sendable {
        case addCategories, remove, update, insert, describeDataset

        /// What it is called while it lasts; nil where it is about a few rows.
        func phase(_ counts: ImportCounts) -> ImportProgress.Phase? {
            switch self {
            case .remove: .removing(counts.vanished)
            case .update: .changing(counts.changed)
            case .insert: .adding(counts.added)
            case .addCategories, .describeDataset: nil
            }
        }
    }

    /// The statements, in the order in which they are sent; one that would do nothing isn't among them.
    private(set) var steps: [Step] = []
    /// Why nothing may be changed; nil where nothing speaks against it.
    private(set) var refusal: String?

    /// This many places may always be removed, whatever share of the dataset they are.
    static let harmlessRemovals = 10
    /// If there are more to remove, at most one place in this many may be removed.
    static let harmlessFraction = 20

    init(_ counts: ImportCounts, isForced: Bool) {
        if counts.newCategories > 0 { steps.append(.addCategories) }
        if counts.vanished > 0 { steps.append(.remove) }
        if counts.changed > 0 { steps.append(.update) }
        if counts.added > 0 { steps.append(.insert) }
        if counts.changesDescription { steps.append(.describeDataset) }
        let harmless = max(Self.harmlessRemovals, counts.selected / Self.harmlessFraction)
        if counts.vanished > harmless, !isForced {
            refusal =
                "--sync would remove \(counts.vanished) of \(counts.selected) places, more than \(harmless); "
                + "if they are really to go, repeat it with --force"
        }
    }
}
