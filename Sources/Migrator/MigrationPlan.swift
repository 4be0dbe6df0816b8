/// What a run does, decided from the files and the applied rows alone, without a database.
public struct MigrationPlan: Sendable, Hashable {
    /// What a run is asked for.
    public enum Command: Sendable, Hashable {
        /// Apply what is pending, up to and including a version if one is given.
        case up(to: String?)
        /// Undo the last applied migration, or all above a version if one is given; `0` stands for all.
        case down(to: String?)
    }

    /// One file to apply or to undo.
    public struct Step: Sendable, Hashable {
        /// The direction.
        public enum Direction: Sendable, Hashable {
            /// The file's up part.
            case up
            /// The file's down part.
            case down
        }

        /// The direction.
        public let direction: Direction
        /// The file.
        public let file: MigrationFile

        var section: MigrationFile.Section { direction == .up ? file.up : file.down }
    }

    /// What to do, in this order.
    public let steps: [Step]
    /// Applied migrations of a newer release, lowest number first.
    public let newer: [AppliedMigration]

    /// Compares files and rows.
    ///
    /// - Parameters:
    ///   - command: what to do.
    ///   - directory: the files.
    ///   - applied: the rows of the database.
    ///   - includesSeeds: whether pending seeds are applied too. Applied seeds are known in any case.
    /// - Throws: ``MigrationError`` where the applied migrations don't match the files, for a target without a file, and
    ///   for a way down through a file that can't be undone. Then nothing at all must be done.
    public init(
        _ command: Command, directory: MigrationDirectory, applied: [AppliedMigration], includesSeeds: Bool
    ) throws(MigrationError) {
        let status = MigrationStatus(directory: directory, applied: applied)
        try status.check()
        newer = status.newer
        switch command {
        case .up(let target):
            let limit = try target.map { target throws(MigrationError) in
                try directory.file(version: target).version
            }
            steps = status.files(includesSeeds ? [.pending, .optional] : [.pending])
                .filter { file in limit.map { file.version <= $0 } ?? true }
                .map { Step(direction: .up, file: $0) }
        case .down(let target):
            // Newer migrations would have to be undone first, and only their release knows how.
            guard newer.isEmpty else { throw .missingFiles(versions: newer.map(\.version)) }
            let appliedFiles = Array(status.appliedFiles.reversed())
            let undone: [MigrationFile]
            if let target {
                let limit = try target.allSatisfy { $0 == "0" } ? "" : directory.file(version: target).version
                undone = appliedFiles.filter { $0.version > limit }
            } else {
                undone = Array(appliedFiles.prefix(1))
            }
            if let file = undone.first(where: \.down.isEmpty) { throw .irreversible(name: file.name) }
            steps = undone.map { Step(direction: .down, file: $0) }
        }
    }
}

// MARK: - Status

/// Files and applied rows side by side.
public struct MigrationStatus: Sendable, Hashable {
    /// How a migration stands.
    public enum State: String, Sendable, Hashable {
        /// Applied, and the file is what it was.
        case applied
        /// Applied by dbmate, which keeps no checksum: the file is taken on trust.
        case unverified
        /// Not applied.
        case pending
        /// A seed that is not applied.
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
    public struct Entry: Sendable, Hashable {
        /// Its number.
        public let version: String
        /// How it stands.
        public let state: State
        /// Its file, unless that is missing.
        public let file: MigrationFile?
        /// Its row, if it is applied.
        public let applied: AppliedMigration?
    }

    /// All migrations that have a file or a row, lowest number first.
    public let entries: [Entry]

    /// Compares the files with the rows of the database.
    public init(directory: MigrationDirectory, applied: [AppliedMigration]) {
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
    public func check() throws(MigrationError) {
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

    /// Applied migrations of a newer release.
    var newer: [AppliedMigration] { entries.filter { $0.state == .newer }.compactMap(\.applied) }

    var appliedFiles: [MigrationFile] { entries.filter { $0.applied != nil }.compactMap(\.file) }

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
        guard let checksum = applied.checksum else { return .unverified }
        return checksum == file.checksum ? .applied : .edited
    }
}

extension MigrationStatus: CustomStringConvertible {
    /// A line for each migration, one that sums up, and where nothing can run one that says why.
    public var description: String {
        (entries.map(line) + [summary] + (replacement.map { ["\($0)"] } ?? [])).joined(separator: "\n")
    }

    private func line(for entry: Entry) -> String {
        let state = entry.state.rawValue
        let padding = String(repeating: " ", count: max(1, 12 - state.count))
        let name = entry.file?.name ?? entry.applied?.shownName ?? entry.version
        let kind = entry.file?.kind == .seed ? " (seed)" : ""
        let time = entry.applied?.appliedAt.map { "  \($0)" } ?? ""
        return state + padding + name + kind + time
    }

    private var summary: String {
        let states: [(State, String)] = [
            (.unverified, "without a checksum"), (.pending, "pending"), (.optional, "seeds not applied"),
            (.late, "late"), (.edited, "edited"),
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
