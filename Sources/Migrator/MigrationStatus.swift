/// Files and applied rows side by side.
public struct MigrationStatus: Sendable, Hashable {
    /// How a migration stands.
    public enum State: String, Sendable, Hashable {
        /// Applied, and the file is what it was.
        case applied
        /// Applied by dbmate, which keeps no checksum: taken on trust.
        case unverified
        /// Not applied.
        case pending
        /// A seed that is not applied.
        case optional
        /// Not applied, though a higher number is.
        case late
        /// Applied, but the file has changed since.
        case edited
        /// Applied by a newer release, whose file says that this program can live with it.
        case newer
        /// Applied, but there is no file.
        case missing
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

    /// Compares the files with the rows.
    ///
    /// - Parameter program: the version of this program; nil where no newer schema is to be accepted.
    public init(directory: MigrationDirectory, applied: [AppliedMigration], program: ProgramVersion? = nil) {
        let rows = Dictionary(applied.map { ($0.version, $0) }) { first, _ in first }
        let highest = applied.map(\.version).max() ?? ""
        let known = directory.files.map { file in
            let row = rows[file.version]
            let state = Self.state(of: file, applied: row, highestApplied: highest)
            return Entry(version: file.version, state: state, file: file, applied: row)
        }
        let versions = Set(directory.files.map(\.version))
        let highestKnown = directory.files.last?.version ?? ""
        let missing = rows.values.filter { !versions.contains($0.version) }.map { row in
            let isNewer = row.version > highestKnown && Self.canLive(program, with: row)
            return Entry(version: row.version, state: isNewer ? .newer : .missing, file: nil, applied: row)
        }
        entries = (known + missing).sorted { $0.version < $1.version }
    }

    /// Throws what keeps every migration from running: an edited, missing or late file.
    public func check() throws(MigrationError) {
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

    /// Whether the row says that the program can live with it. One that says nothing refuses.
    private static func canLive(_ program: ProgramVersion?, with row: AppliedMigration) -> Bool {
        guard let program, let oldest = row.oldestVersion else { return false }
        return oldest <= program
    }

    /// What a newer release has applied and this program can live with.
    var newer: [AppliedMigration] { entries.filter { $0.state == .newer }.compactMap(\.applied) }

    var appliedFiles: [MigrationFile] { entries.filter { $0.applied != nil }.compactMap(\.file) }

    func pendingFiles(includesSeeds: Bool) -> [MigrationFile] {
        entries.filter { $0.state == .pending || (includesSeeds && $0.state == .optional) }.compactMap(\.file)
    }

    /// A seed may come late: whoever had no use for it yesterday may ask for it today.
    private static func state(
        of file: MigrationFile, applied: AppliedMigration?, highestApplied: String
    ) -> State {
        guard let applied else {
            if file.kind == .seed { return .optional }
            return file.version < highestApplied ? .late : .pending
        }
        guard let checksum = applied.checksum else { return .unverified }
        return checksum == file.checksum ? .applied : .edited
    }
}
