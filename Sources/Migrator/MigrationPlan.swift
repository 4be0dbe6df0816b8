/// What a run does, decided from the files and the applied rows alone, without a database.
package struct MigrationPlan: Sendable, Hashable {
    /// What a run is asked for.
    package enum Command: Sendable, Hashable {
        /// Apply what is pending.
        case up
        /// Undo the last applied migration.
        case down
    }

    /// One file to apply or to undo.
    package struct Step: Sendable, Hashable {
        /// Which part of the file is run.
        package enum Direction: Sendable, Hashable { case up, down }

        package let direction: Direction
        package let file: MigrationFile

        var section: MigrationFile.Section { direction == .up ? file.up : file.down }
    }

    /// What to do, in this order.
    package let steps: [Step]
    /// Applied migrations of a newer release, lowest number first.
    package let newer: [AppliedMigration]

    /// Compares files and rows.
    ///
    /// - Parameter includesSeeds: whether pending seeds are applied too. Applied seeds are known in any case.
    /// - Throws: ``MigrationError`` where the applied migrations don't match the files, and where the last one can't be
    ///   undone. Then nothing at all must be done.
    package init(
        _ command: Command, directory: MigrationDirectory, applied: [AppliedMigration], includesSeeds: Bool
    ) throws(MigrationError) {
        let status = MigrationStatus(directory: directory, applied: applied)
        try status.check()
        newer = status.newer
        switch command {
        case .up:
            steps = status.files(includesSeeds ? [.pending, .optional] : [.pending])
                .map { Step(direction: .up, file: $0) }
        case .down:
            // Newer migrations would have to be undone first, and only their release knows how.
            guard newer.isEmpty else { throw .missingFiles(versions: newer.map(\.version)) }
            let last = status.entries.last { $0.applied != nil }?.file
            if let last, last.down.isEmpty { throw .irreversible(name: last.name) }
            steps = last.map { [Step(direction: .down, file: $0)] } ?? []
        }
    }
}

// MARK: - Status

/// Files and applied rows side by side.
package struct MigrationStatus: Sendable, Hashable {
    /// How a migration stands.
    package enum State: String, Sendable, Hashable {
        /// Applied, and the file is what it was.
        case applied
        case pending
        case optional
        /// Not applied, though a higher number is.
        case late
        /// Applied, but the file has changed since.
        case edited
        /// Applied by a newer release.
        case newer
        /// Applied, but there is no file.
        case missing
        /// Applied, like all that is, before there was the first of these files: by a version that was never released.
        case replaced
    }

    /// One migration.
    package struct Entry: Sendable, Hashable {
        /// Its number.
        package let version: String
        /// How it stands.
        package let state: State
        /// Its file, unless that is missing.
        package let file: MigrationFile?
        package let applied: AppliedMigration?
    }

    /// All migrations that have a file or a row, lowest number first.
    package let entries: [Entry]

    /// Compares the files with the rows of the database.
    package init(directory: MigrationDirectory, applied: [AppliedMigration]) {
        let rows = Dictionary(applied.map { ($0.version, $0) }) { first, _ in first }
        let highest = applied.map(\.version).max() ?? ""
        let known = directory.files.map { file in
            let row = rows[file.version]
            let state = Self.state(of: file, applied: row, highestApplied: highest)
            return Entry(version: file.version, state: state, file: file, applied: row)
        }
        let versions = Set(directory.files.map(\.version))
        let (first, last) = (directory.files.first?.version ?? "", directory.files.last?.version ?? "")
        let isReplaced = !rows.isEmpty && rows.keys.allSatisfy { $0 < first }
        let unknown = rows.values.filter { !versions.contains($0.version) }.map { row in
            let state: State = isReplaced ? .replaced : row.version > last ? .newer : .missing
            return Entry(version: row.version, state: state, file: nil, applied: row)
        }
        entries = (known + unknown).sorted { $0.version < $1.version }
    }

    /// Checks that nothing keeps migrations from running.
    ///
    /// - Throws: ``MigrationError`` for a database of a version that was never released, and for an edited, missing or late file.
    package func check() throws(MigrationError) {
        if let replacement { throw replacement }
        let missing = entries.filter { $0.state == .missing }.map(\.version)
        guard missing.isEmpty else { throw .missingFiles(versions: missing) }
        for entry in entries {
            guard let file = entry.file else { continue }
            if entry.state == .edited { throw .editedFile(name: file.name) }
            if entry.state == .late {
                let highest = entries.last { $0.applied != nil }
                throw .outOfOrder(name: file.name, highestApplied: highest?.version ?? "")
            }
        }
    }

    /// Why nothing can run where a version made the database that was never released; nil elsewhere.
    private var replacement: MigrationError? {
        let versions = entries.filter { $0.state == .replaced }.map(\.version)
        guard !versions.isEmpty else { return nil }
        return .replacedFiles(versions: versions)
    }

    var newer: [AppliedMigration] { entries.filter { $0.state == .newer }.compactMap(\.applied) }

    func files(_ states: Set<State>) -> [MigrationFile] {
        entries.filter { states.contains($0.state) }.compactMap(\.file)
    }

    /// Only the schema can be late: a database that had no use for a seed yesterday may get it today.
    private static func state(
        of file: MigrationFile, applied: AppliedMigration?, highestApplied: String
    ) -> State {
        guard let applied else {
            switch file.kind {
            case .schema: return file.version < highestApplied ? .late : .pending
            case .seed: return .optional
            }
        }
        return applied.checksum == file.checksum ? .applied : .edited
    }
}

extension MigrationStatus: CustomStringConvertible {
    /// A line for each migration, one that sums up, and where nothing can run one that says why.
    package var description: String {
        (entries.map(line) + [summary] + (replacement.map { ["\($0)"] } ?? [])).joined(separator: "\n")
    }

    private func line(for entry: Entry) -> String {
        let state = entry.state.rawValue
        let padding = String(repeating: " ", count: max(1, 12 - state.count))
        let name = entry.file?.name ?? entry.applied?.name ?? entry.version
        let kind = entry.file?.kind == .seed ? " (seed)" : ""
        let time = entry.applied.map { "  \($0.appliedAt)" } ?? ""
        return state + padding + name + kind + time
    }

    private var summary: String {
        let states: [(State, String)] = [
            (.pending, "pending"), (.optional, "seeds not applied"), (.late, "late"), (.edited, "edited"),
            (.missing, "missing"), (.newer, "newer"),
            (.replaced, "of a version that was never released"),
        ]
        let counts = states.compactMap { state, label in
            let count = entries.count { $0.state == state }
            return count == 0 ? nil : "\(count) \(label)"
        }
        return (["\(entries.count { $0.applied != nil }) applied"] + counts).joined(separator: ", ")
    }
}
