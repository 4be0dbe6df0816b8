import Foundation
import Testing

/// The program itself against servers that run. Few tests, since each is slow and tells little about why it fails.
@Suite(
    "The program against a server",
    .enabled(if: !Server.running.isEmpty, "needs a server: POI_BASE_URL, see scripts/checks/check-examples"),
    .timeLimit(.minutes(1)))
struct ProgramTests {
    @Test("The program lists the nearest places", arguments: Server.running)
    func lists(server: Server) async throws {
        let result = try await Program.run(["--limit", "2"], against: server.url)
        #expect(result.exitCode == 0)
        #expect(result.lines.count == 2)
        #expect(result.lines.first == "    55 m  San Jose McEnery Convention Center (conference_centre)")
    }

    @Test("The program features a place", arguments: Server.running)
    func watches(server: Server) async throws {
        let result = try await Program.run(["--watch", "--count", "1"], against: server.url)
        #expect(result.exitCode == 0)
        #expect(result.lines.first?.hasPrefix("★ ") == true)
    }

    @Test(
        "The program's exit code says whether a position is at a point of interest",
        arguments: Server.running,
        [("37.3316,-121.8901", Int32(0)), ("36,-123", 1)])
    func checks(server: Server, position: (String, exitCode: Int32)) async throws {
        let result = try await Program.run(["--check", "--at", position.0], against: server.url)
        #expect(result.exitCode == position.exitCode)
    }

    @Test("The program prints what the server says is wrong", arguments: Server.running)
    func handsOnProblems(server: Server) async throws {
        let result = try await Program.run(["--limit", "101"], against: server.url)
        #expect(result.exitCode == 69)
        #expect(result.lines.last?.contains("limit must be a whole number from 1 to 100") == true)
    }

    @Test("The program ends with exit code 64 after a wrong call, and prints no place")
    func tellsItsUsage() async throws {
        let result = try await Program.run(["--nearest"], against: Server.running.first?.url)
        #expect(result.exitCode == 64)
        #expect(result.lines.isEmpty)
    }
}

/// The program itself, where nothing listens.
@Suite("The program without a server", .timeLimit(.minutes(1)))
struct ProgramAloneTests {
    @Test("The program keeps its events for the next launch, which has the same user")
    func keepsEventsAndUser() async throws {
        try await Program.withFolder { folder in
            for _ in 0..<2 {
                let result = try await Program.run(
                    ["--check"], against: URL(string: "http://127.0.0.1:9"), in: folder)
                #expect(result.exitCode == 69)
            }
            let queue = try String(
                contentsOf: folder.appendingPathComponent("events/events"), encoding: .utf8)
            let users = queue.matches(of: /"user_id":"([^"]+)"/).map { String($0.output.1) }
            // Of each launch: launch, page-view, location-check and background.
            #expect(users.count == 8)
            #expect(Set(users).count == 1)
        }
    }
}

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

/// A server to run the program against, which a variable names: see `scripts/checks/check-examples`.
enum Server: String, CaseIterable {
    /// The real one, with the seeded data.
    case real = "POI_BASE_URL"
    /// The mock server, which has the same places.
    case mock = "POI_MOCK_URL"

    /// Where it is; nil where it doesn't run.
    var url: URL? { ProcessInfo.processInfo.environment[rawValue].flatMap { URL(string: $0) } }

    /// Those that run.
    static let running = allCases.filter { $0.url != nil }
}
