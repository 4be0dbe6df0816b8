import Foundation

/// The migrations of a release: the SQL files of a folder and of its subfolder `Seeds`, in one sequence of numbers.
package struct MigrationDirectory: Sendable, Hashable {
    /// All files, lowest number first.
    package let files: [MigrationFile]

    /// Reads and checks all `.sql` files of the folder `path`, and of its subfolder if there is one.
    ///
    /// - Throws: ``MigrationError`` for a folder that can't be read, or for the first file that is not in order.
    package init(path: String) throws(MigrationError) {
        var files: [MigrationFile] = []
        for kind in MigrationFile.Kind.allCases {
            let folder = Self.folder(of: kind, in: path)
            guard kind == .schema || FileManager.default.fileExists(atPath: folder) else { continue }
            files += try Self.read(folder, kind: kind)
        }
        try self.init(files: files)
    }

    /// Takes files that were read already, and checks their numbers.
    package init(files: [MigrationFile]) throws(MigrationError) {
        self.files = files.sorted { ($0.version, $0.name) < ($1.version, $1.name) }
        for (file, next) in zip(self.files, self.files.dropFirst()) {
            guard file.version != next.version else { throw .duplicateVersion(file.name, next.name) }
        }
    }

    /// The versions of the schema's files that are not applied, and of those instead of which another file was; empty where a
    /// program with these files can serve.
    ///
    /// Applied migrations that are newer than these files don't matter.
    package func missingSchemaVersions(applied: [AppliedMigration]) -> [String] {
        let rows = Dictionary(applied.map { ($0.version, $0) }) { first, _ in first }
        return files.filter { $0.kind == .schema }.compactMap { file in
            guard let row = rows[file.version] else { return file.version }
            return row.checksum == file.checksum ? nil : "\(file.version) (another file of that number is)"
        }
    }

    private static func folder(of kind: MigrationFile.Kind, in path: String) -> String {
        switch kind {
        case .schema: path
        case .seed: "\(path)/Seeds"
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
