import Foundation

/// The built program.
enum Program {
    /// What a run has brought.
    struct Result {
        let exitCode: Int32
        let lines: [String]
    }

    /// Runs it to its end, which it signals itself: nobody waits for time.
    static func run(_ arguments: [String], against server: URL?) async throws -> Result {
        try await withFolder { try await run(arguments, against: server, in: $0) }
    }

    /// Calls the body with a folder of a test's own, which is gone afterwards.
    static func withFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    /// Runs it with its queue in this folder: programs that run at the same time don't share one.
    static func run(_ arguments: [String], against server: URL?, in folder: URL) async throws -> Result {
        let process = Process()
        // As a UI test launches an app; see `AppConfiguration`.
        process.environment = ProcessInfo.processInfo.environment.merging(
            // On Linux, the user's id would be in the home folder of whoever runs the tests.
            ["POI_BASE_URL": server?.absoluteString ?? "", "HOME": folder.path], uniquingKeysWith: { $1 })
        process.executableURL = products.appendingPathComponent("nearby")
        process.arguments = arguments + ["--events-folder", folder.appendingPathComponent("events").path]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let exitCodes = AsyncThrowingStream<Int32, any Error> { continuation in
            process.terminationHandler = { process in
                continuation.yield(process.terminationStatus)
                continuation.finish()
            }
            do { try process.run() } catch { continuation.finish(throwing: error) }
        }
        for try await exitCode in exitCodes {
            // A few lines: they fit into the pipe, so that the program never waited for a reader.
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            return Result(exitCode: exitCode, lines: text.split(separator: "\n").map(String.init))
        }
        throw CancellationError()
    }

    private static var products: URL {
        #if canImport(Darwin)
            Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent()
        #else
            URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        #endif
    }

    private final class Anchor {}
}
