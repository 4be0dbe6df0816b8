import Foundation

/// The migrations of a release: the SQL files of a folder and of its subfolder `Seeds`, in one sequence of numbers.
public struct MigrationDirectory: Sendable, Hashable {
    static let seedsFolder = "Seeds"

    /// All files, lowest number first.
    public let files: [MigrationFile]

    /// Reads and checks all `.sql` files of the folder and of its `Seeds`, if it has that.
    /// - Throws: ``MigrationError`` for the first file that is not in order.
    public init(path: String) throws(MigrationError) {
        let schema = try Self.read(path, kind: .schema)
        let seedsPath = "\(path)/\(Self.seedsFolder)"
        let hasSeeds = FileManager.default.fileExists(atPath: seedsPath)
        try self.init(files: schema + (hasSeeds ? try Self.read(seedsPath, kind: .seed) : []))
    }

    /// Takes files from wherever, and checks their numbers.
    public init(files: [MigrationFile]) throws(MigrationError) {
        self.files = files.sorted { ($0.version, $0.name) < ($1.version, $1.name) }
        for (file, next) in zip(self.files, self.files.dropFirst()) {
            guard file.version.count == next.version.count else {
                throw .unequalVersionLengths(file.name, next.name)
            }
            guard file.version != next.version else { throw .duplicateVersion(file.name, next.name) }
        }
    }

    /// The versions of the schema's files that are not among the applied ones; newer applied ones don't matter.
    ///
    /// Empty means that a binary which was built with these files can serve.
    public func missingSchemaVersions(applied: Set<String>) -> [String] {
        files.filter { $0.kind == .schema && !applied.contains($0.version) }.map(\.version)
    }

    /// The applied migrations, newer than all of these, that say that the program is too old for them.
    ///
    /// Those that say nothing aren't among them: a server that runs must not stop serving because a newer release
    /// has added to the schema.
    public func migrationsBeyond(_ program: ProgramVersion, applied: [AppliedMigration]) -> [AppliedMigration]
    {
        let known = Set(files.map(\.version))
        return applied.filter { row in
            guard !known.contains(row.version), let oldest = row.oldestVersion else { return false }
            return oldest > program
        }
    }

    private static func read(
        _ path: String, kind: MigrationFile.Kind
    ) throws(MigrationError) -> [MigrationFile] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw .unreadableFolder(path)
        }
        var files: [MigrationFile] = []
        for name in names.sorted() where name.hasSuffix(".sql") && !name.hasPrefix(".") {
            guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else {
                throw .unreadableFile("\(path)/\(name)")
            }
            files.append(try MigrationFile(fileName: name, kind: kind, bytes: Array(data)))
        }
        return files
    }
}
