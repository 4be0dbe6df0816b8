import Foundation
import Migrator

/// A folder of migrations for a test; removed with its last reference.
final class MigrationFolder: Sendable {
    let path: String

    init(_ files: [String: String] = [:]) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "migrations-\(UUID().uuidString)")
            .path()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, content) in files { try write(name, content) }
    }

    /// Writes a file; `Seeds/…` for a seed, `AfterRollOut/…` for what waits for the roll-out.
    func write(_ name: String, _ content: String) throws {
        let file = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: file, atomically: true, encoding: .utf8)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }

    func directory(replacing numbers: ClosedRange<String>? = nil) throws -> MigrationDirectory {
        try MigrationDirectory(path: path, replacing: numbers)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A file's text from its two halves.
func migration(up: String, down: String = "", options: String = "") -> String {
    "-- migrate:up \(options)\n\(up)\n-- migrate:down\n\(down)\n"
}
