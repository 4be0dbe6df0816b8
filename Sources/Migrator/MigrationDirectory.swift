import Foundation

/// The migrations of a release: the SQL files of a folder and of its subfolder `Seeds`, in one sequence of numbers.
public struct MigrationDirectory: Sendable, Hashable {
    private static let defaultVersionLength = 4
    private static let template = "-- migrate:up\n\n\n-- migrate:down\n\n"

    /// All files, lowest number first.
    public let files: [MigrationFile]

    /// Reads and checks all `.sql` files of the folder `path`, and of its subfolder if there is one.
    ///
    /// - Throws: ``MigrationError`` for a folder that can't be read, or for the first file that is not in order.
    public init(path: String) throws(MigrationError) {
        var files: [MigrationFile] = []
        for kind in MigrationFile.Kind.allCases {
            let folder = Self.folder(of: kind, in: path)
            guard kind == .schema || FileManager.default.fileExists(atPath: folder) else { continue }
            files += try Self.read(folder, kind: kind)
        }
        try self.init(files: files)
    }

    /// Takes files that were read already, and checks their numbers.
    ///
    /// - Throws: ``MigrationError`` where two files have the same number, or numbers of unequal length.
    public init(files: [MigrationFile]) throws(MigrationError) {
        self.files = files.sorted { ($0.version, $0.name) < ($1.version, $1.name) }
        for (file, next) in zip(self.files, self.files.dropFirst()) {
            guard file.version.count == next.version.count else {
                throw .unequalVersionLengths(file.name, next.name)
            }
            guard file.version != next.version else { throw .duplicateVersion(file.name, next.name) }
        }
    }

    /// The versions of the schema's files that are not applied; empty where a program with these files can serve.
    ///
    /// Applied migrations that are newer than these files don't matter.
    public func missingSchemaVersions(applied: Set<String>) -> [String] {
        files.filter { $0.kind == .schema && !applied.contains($0.version) }.map(\.version)
    }

    /// The file of a version, which may be written without its leading zeros.
    ///
    /// - Throws: ``MigrationError/unknownTarget(_:)`` where there is none.
    func file(version: String) throws(MigrationError) -> MigrationFile {
        let wanted = version.drop { $0 == "0" }
        guard let file = files.first(where: { $0.version.drop { $0 == "0" } == wanted }) else {
            throw .unknownTarget(version)
        }
        return file
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

    // MARK: - New files

    /// Makes an empty migration with the next number.
    ///
    /// - Parameters:
    ///   - title: what it does, `verb object`; anything but letters and digits becomes an underscore.
    ///   - path: the folder of the migrations.
    ///   - kind: a seed goes to the folder's `Seeds`.
    /// - Returns: the file's path.
    /// - Throws: ``MigrationError`` for a title without a letter or digit, for a file that can't be written, and where the
    ///   folder's files are not in order.
    public static func makeFile(
        title: String, path: String, kind: MigrationFile.Kind = .schema
    ) throws(MigrationError) -> String {
        let directory = try MigrationDirectory(path: path)
        let words = title.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        guard !words.isEmpty else { throw .unusableName(title) }
        let version = try nextVersion(after: directory.files.last)
        let folder = folder(of: kind, in: path)
        let file = "\(folder)/\(version)_\(words.joined(separator: "_")).sql"
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(template.utf8).write(to: URL(filePath: file), options: .withoutOverwriting)
        } catch {
            throw .unwritableFile(file, reason: error.localizedDescription)
        }
        return file
    }

    private static func nextVersion(after last: MigrationFile?) throws(MigrationError) -> String {
        guard let last else { return String(repeating: "0", count: defaultVersionLength - 1) + "1" }
        guard let number = UInt64(last.version), number < .max else { throw .malformedName(last.name) }
        let digits = String(number + 1)
        return String(repeating: "0", count: max(0, last.version.count - digits.count)) + digits
    }
}
