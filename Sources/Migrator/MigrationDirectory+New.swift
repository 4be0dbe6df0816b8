import Foundation

extension MigrationDirectory {
    private static let defaultVersionLength = 4
    private static let template = "-- migrate:up\n\n\n-- migrate:down\n\n"

    /// Makes an empty migration with the next number and returns its path.
    ///
    /// - Parameters:
    ///   - title: what it does, `verb object`; anything but letters and digits becomes an underscore.
    ///   - path: the folder of the migrations.
    ///   - kind: a seed goes to the folder's `Seeds`.
    /// - Throws: ``MigrationError``, also where the folder's present files are not in order.
    public static func makeFile(
        title: String, path: String, kind: MigrationFile.Kind = .schema
    ) throws(MigrationError) -> String {
        let directory = try MigrationDirectory(path: path)
        let words = title.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        guard !words.isEmpty else { throw .unusableName(title) }
        let version = try nextVersion(after: directory.files.last)
        let folder = kind == .seed ? "\(path)/\(seedsFolder)" : path
        let file = "\(folder)/\(version)_\(words.joined(separator: "_")).sql"
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(template.utf8).write(to: URL(filePath: file), options: .withoutOverwriting)
        } catch {
            throw .fileExists(file)
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
