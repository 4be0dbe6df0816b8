/// What is to be done, decided from the files and the applied rows alone, without a database.
public struct MigrationPlan: Sendable, Hashable {
    /// What somebody wants.
    public enum Command: Sendable, Hashable {
        /// Apply what is pending, up to and including a version if one is given.
        case up(to: String?)
        /// Undo the last applied migration, or all above a version; `0` stands for all.
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
    /// What a newer release has applied and this program can live with, lowest number first.
    public let newer: [AppliedMigration]

    /// Compares files and rows; refuses where what was applied is not what is at hand.
    /// - Parameters:
    ///   - includesSeeds: whether pending seeds are applied too. Applied ones are known in any case.
    ///   - program: the version of this program; nil where no newer schema is to be accepted.
    /// - Throws: ``MigrationError``: then nothing at all is to be done.
    public init(
        _ command: Command, directory: MigrationDirectory, applied: [AppliedMigration], includesSeeds: Bool,
        program: ProgramVersion? = nil
    ) throws(MigrationError) {
        let status = MigrationStatus(directory: directory, applied: applied, program: program)
        try status.check()
        newer = status.newer
        switch command {
        case .up(let target):
            let limit = try target.map { target throws(MigrationError) in
                try directory.file(version: target).version
            }
            steps = status.pendingFiles(includesSeeds: includesSeeds)
                .filter { file in limit.map { file.version <= $0 } ?? true }
                .map { Step(direction: .up, file: $0) }
        case .down(let target):
            // What is newer would have to be undone first, and only its own release knows how.
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

extension MigrationDirectory {
    /// The file of a version, which may be written without its leading zeros.
    func file(version: String) throws(MigrationError) -> MigrationFile {
        let wanted = version.drop { $0 == "0" }
        guard let file = files.first(where: { $0.version.drop { $0 == "0" } == wanted }) else {
            throw .unknownTarget(version)
        }
        return file
    }
}
