import Foundation

/// The files beside these tests.
enum ExampleFiles {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The path of a file or a folder.
    static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// A folder of a test's own, with these files, for as long as the body runs.
    static func withFolder<Value>(_ files: [String: String], _ body: (String) throws -> Value) throws -> Value
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files {
            try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
        return try body(folder.path)
    }
}
