import EventLoop
import PlaceImport
import PointsOfInterestServerAPI
import Postgres

/// The one transaction of an import, in its own session.
struct ImportTransaction {
    let connection: PostgresConnection
    let rows: ImportRows
    let options: ImportOptions
    let source: ImportSource
    let steps: ImportSteps
    let onReport: (@Sendable ([UInt8]) throws -> Void)?
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
        let unseen = rows.unseen
        if !unseen.isEmpty {
            let kept = GivenMembers.all.subtracting(unseen.members).rawValue
            try await run(
                ImportStatements.takeBackEmptied, [.int8(Int64(kept)), .textArray(unseen.properties)])
        }
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
            "none of \(count) rows can be imported: \(rows.stager.reasons)", path: source.names.first)
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
        let refused = try await leaveOutRefused()
        let description = try await newDescription()
        var counts = try await count(changesDescription: description != nil)
        (counts.refused, counts.refusedRows) = refused
        try await compare(&counts)
        let plan = ImportPlan(counts, allowing: options.allowed)
        var report = report(
            counts, duplicates: duplicates, dropped: dropped,
            refusal: rejectionRefusal ?? plan.refusal)
        report.moved = try await movedPlaces(counts)
        report.examples = try await examples(counts)
        report.byHand = try await changedByHand(counts)
        report.newDataset = try await newDataset(counts)
        if let onReport {
            try await ImportChangeLines(
                connection: connection, options: options, files: source.names, counts: counts,
                selection: selection
            ).write(to: onReport)
        }
        guard !options.isDryRun else { return report }
        if let refusal = plan.refusal { throw CommandError("\(refusal); nothing was changed") }
        let run = try await ImportRun.begin(connection, dataset: options.dataset.name, source: source)
        for step in plan.steps {
            if let phase = step.phase(counts) { steps.enter(phase) }
            try await perform(step, counts, description, run)
        }
        try await run.end(connection, report)
        report.run = run.id
        return report
    }

    /// Drops properties and names that the table wouldn't take; returns of how many rows each.
    private func dropWhatDoesNotFit() async throws -> [Normalisation: Int] {
        func drop(_ sql: SQL) async throws -> Int {
            try await value(PostgresQuery(sql, [.text(options.dataset.name)]))
        }
        if rows.stager.hasEmptyProperties { try await run(ImportStatements.dropEmptyProperties) }
        let own = try await value(PostgresQuery(ImportStatements.dropProperties), as: Int.self)
        let merged = rows.stager.mergesProperties ? try await drop(ImportStatements.dropMergedProperties) : 0
        var dropped: [Normalisation: Int] = [.propertiesDropped: own + merged]
        if rows.stager.mergesNames {
            dropped[.namesDropped] = try await drop(ImportStatements.dropMergedNames)
        }
        if rows.stager.hasCorrections {
            dropped[.correctionsDropped] = try await value(PostgresQuery(ImportStatements.dropCorrections))
        }
        return dropped
    }

    /// Leaves out what a reviewer refuses, whatever would be done to these places now. Returns what became of the refusals, and
    /// how many rows are left out.
    private func leaveOutRefused() async throws -> (ImportReport.Refused, rows: Int) {
        var refused = ImportReport.Refused()
        guard !options.refused.isEmpty else { return (refused, 0) }
        let name = PostgresValue.text(options.dataset.name)
        let license = PostgresValue.text(options.dataset.license)
        try await run(RefusedStatements.create)
        for start in stride(from: 0, to: options.refused.changes.count, by: Self.refusedAtOnce) {
            let end = min(start + Self.refusedAtOnce, options.refused.changes.count)
            try await run(
                RefusedStatements.insert,
                [
                    .textArray(Array(options.refused.sourceIDs[start..<end])),
                    .textArray(options.refused.changes[start..<end].map(\.rawValue)),
                ])
        }
        try await run(RefusedStatements.analyze)
        try await run(RefusedStatements.findAdded, [name])
        try await run(ImportChanges.createOfRefused, [name, license])
        try await run(ImportChanges.findChanges)
        try await run(ImportChanges.compareCorrected, [license])
        try await run(ImportChanges.dropUnchanged)
        try await run(RefusedStatements.findChanged)
        try await run(ImportChanges.drop)
        if rows.stager.suppressedCount > 0 { try await run(RefusedStatements.findSuppressed, [name]) }
        if options.removesVanished { _ = try await connection.query(selection.findRefused) }
        let row = try await connection.query(PostgresQuery(RefusedStatements.count)).only()
        (refused.count, refused.notApplicableCount) = (try row.decode(at: 0), try row.decode(at: 1))
        let others = try await connection.query(PostgresQuery(RefusedStatements.notApplicable))
        refused.notApplicable = try others.map { other in
            let (id, change) = (try other.decode(String.self, at: 0), try other.decode(String.self, at: 1))
            return "\(id.printable) (\(change), now \(try other.decode(String?.self, at: 2) ?? "nothing"))"
        }
        let leftOut = try await connection.query(PostgresQuery(RefusedStatements.leaveOut)).affectedCount
        try await run(RefusedStatements.spare)
        return (refused, leftOut)
    }

    private static let refusedAtOnce = 10_000

    /// The categories to add: those of the file that the vocabulary doesn't have, but for what is refused.
    private func newCategories() async throws -> [String] {
        let categories = rows.stager.newCategories.sorted()
        guard !categories.isEmpty, !options.refused.isEmpty else { return categories }
        let query = PostgresQuery(RefusedStatements.neededCategories, [.textArray(categories)])
        return try await connection.query(query).map { try $0.decode(String.self, at: 0) }.sorted()
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

    private func perform(
        _ step: ImportPlan.Step, _ counts: ImportCounts, _ description: DatasetDescription?, _ run: ImportRun
    ) async throws {
        let name = PostgresValue.text(options.dataset.name)
        let license = PostgresValue.text(options.dataset.license)
        switch step {
        case .addCategories:
            try await self.run(ImportStatements.addCategories, [.textArray(counts.newCategories)])
        case .remove: _ = try await connection.query(selection.removeVanished)
        case .suppress:
            for sql in [ImportStatements.removeSuppressed] + ImportStatements.suppress {
                try await self.run(sql, [name])
            }
        case .update: try await update(counts, run)
        case .insert:
            let values = [name, license, .int8(run.id)]
            try await self.run(ImportStatements.insert, values)
            if rows.stager.hasCorrections || counts.returned > 0 {
                try await self.run(ImportStatements.insertCorrected, values)
            }
        case .describeDataset:
            let texts = [description?.credit, description?.url].map { text in
                text.map { PostgresValue.text($0) } ?? .null(.text)
            }
            try await self.run(ImportStatements.describeDataset, [name, license] + texts)
        }
    }

    /// Changes the places that differ, and below their corrections those that have some.
    private func update(_ counts: ImportCounts, _ run: ImportRun) async throws {
        let values: [PostgresValue] = [.text(options.dataset.license), .int8(run.id)]
        let updated = try await connection.query(PostgresQuery(ImportChanges.update, values)).affectedCount
        let wasCorrected = updated < counts.uncorrected
        if wasCorrected { try await self.run(ImportChanges.findCorrected) }
        if wasCorrected || counts.corrected > 0 {
            try await self.run(ImportChanges.updateCorrected, values)
        }
    }

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
                ImportChanges.count, [.text(options.dataset.name), .text(options.dataset.license)])
        ).only()
        (counts.added, counts.changed) = (try row.decode(at: 0), try row.decode(at: 1))
        counts.corrected = try row.decode(at: 2)
        counts.rows = try row.decode(at: 3)
        counts.present = try await value(
            ImportStatements.Selection(dataset: options.dataset.name, box: nil, categories: []).count)
        if options.removesVanished {
            counts.vanished = try await value(selection.countVanished)
            let isWhole = source.boundingBox == nil && source.categories.isEmpty
            counts.selected = isWhole ? counts.present : try await value(selection.count)
        }
        counts.newCategories = try await newCategories()
        counts.changesDescription = changesDescription
        return counts
    }

    /// Finds out which members change, and what became of the rows that the dataset doesn't have.
    private func compare(_ counts: inout ImportCounts) async throws {
        let name = PostgresValue.text(options.dataset.name)
        let license = PostgresValue.text(options.dataset.license)
        let matched = counts.rows - counts.added
        if counts.changed + counts.corrected > 0 {
            try await run(ImportChanges.create, [name, license])
            if counts.corrected > 0 {
                try await run(ImportChanges.findChanges)
                try await run(ImportChanges.createKept)
                counts.kept = try await value(PostgresQuery(ImportChanges.countKept))
                try await run(ImportChanges.compareCorrected, [license])
                try await run(ImportChanges.dropUnchanged)
            }
            try await run(ImportChanges.analyze)
            let row = try await connection.query(PostgresQuery(ImportChanges.countChanges)).only()
            (counts.changed, counts.byHand) = (try row.decode(at: 0), try row.decode(at: 1))
            counts.uncorrected = try row.decode(at: 2)
            if counts.byHand > 0 {
                try await run(ImportChanges.compareByHand)
                counts.byHand = try await value(PostgresQuery(ImportChanges.countByHand))
            }
            for (index, named) in ChangedMembers.named.enumerated() {
                let count: Int = try row.decode(at: index + 3)
                if count > 0 { counts.changedMembers.append((named.name, count)) }
            }
            if counts.changedCount(of: .position) > 0 {
                counts.farthestMove = try await value(
                    PostgresQuery(ImportChanges.farthestMove), as: Double?.self)
            }
        }
        counts.unchanged = matched - counts.changed
        if counts.added > 0 {
            let row = try await connection.query(PostgresQuery(ImportStatements.countRemoved, [name])).only()
            (counts.suppressed, counts.returned) = (try row.decode(at: 0), try row.decode(at: 1))
            counts.added -= counts.suppressed
        }
        if rows.stager.suppressedCount > 0 {
            counts.newlySuppressed = try await value(PostgresQuery(ImportStatements.countSuppressed, [name]))
        }
        counts.atOrigin = try await value(PostgresQuery(ImportChanges.countAtOrigin))
    }

    /// What some of the rows change, for people.
    private func examples(_ counts: ImportCounts) async throws -> [String] {
        guard counts.changed > 0 else { return [] }
        return try await connection.query(PostgresQuery(ImportChanges.examples)).map { row in
            ImportExample(
                id: try row.decode(at: 0), name: try row.decode(at: 1),
                members: try row.decode(String?.self, at: 2) ?? "{}"
            ).description
        }
    }

    /// The first places that were changed by hand and change again.
    private func changedByHand(_ counts: ImportCounts) async throws -> ImportReport.ByHand? {
        guard counts.byHand > 0 else { return nil }
        let places = try await connection.query(PostgresQuery(ImportChanges.byHand)).map { row in
            "\(try row.decode(Int64.self, at: 0)) (\(try row.decode(String.self, at: 1).printable))"
        }
        return ImportReport.ByHand(count: counts.byHand, places: places)
    }

    /// What is to be said of a dataset that wasn't there: another name that may be meant; nil where it was.
    private func newDataset(_ counts: ImportCounts) async throws -> String? {
        guard counts.present == 0 else { return nil }
        let names = try await connection.query(PostgresQuery(ImportStatements.datasetNames)).map {
            try $0.decode(String.self, at: 0)
        }
        guard !names.contains(options.dataset.name) else { return nil }
        return NearestName.find(for: options.dataset.name, among: names) ?? ""
    }

    private func report(
        _ counts: ImportCounts, duplicates: Int, dropped: [Normalisation: Int], refusal: String?
    ) -> ImportReport {
        let (progress, stager) = (rows.progress, rows.stager)
        var report = ImportReport()
        report.read = progress.rows
        report.notSelected = progress.notSelected
        report.normalised = progress.normalised
        report.remarks = [progress.leftOutLine].compactMap(\.self) + progress.remarks
        for (kind, count) in dropped where count > 0 { report.normalised[kind, default: 0] += count }
        report.rejected = stager.rejected
        report.unknownCategories = stager.unknownCategories
        report.addedCategories = counts.newCategories
        report.duplicates = duplicates
        (report.added, report.changed) = (counts.added, counts.changed)
        (report.unchanged, report.removed) = (counts.unchanged, counts.vanished)
        report.changedMembers = counts.changedMembers.map {
            ImportReport.MemberCount(name: $0.name, count: $0.count)
        }
        report.farthestMove = counts.farthestMove
        report.kept = counts.kept
        (report.suppressed, report.returned) = (counts.suppressed, counts.returned)
        report.newlySuppressed = counts.newlySuppressed
        report.atOrigin = counts.atOrigin
        report.refused = counts.refused
        report.refusal = refusal
        return report
    }

    private func run(_ sql: SQL, _ parameters: [PostgresValue] = []) async throws {
        _ = try await connection.query(PostgresQuery(sql, parameters))
    }

    private func value<Value: PostgresDecodable>(
        _ query: PostgresQuery, as type: Value.Type = Value.self
    ) async throws -> Value {
        try await connection.query(query).only().decode(at: 0)
    }
}
