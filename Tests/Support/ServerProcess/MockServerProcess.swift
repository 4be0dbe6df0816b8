import Foundation

/// A `poi-mock` on a free port of its own.
public struct MockServerProcess: Sendable {
    /// The process.
    public let program: ChildProgram
    /// Where it serves.
    public let baseURL: URL
    /// The port it serves on, on 127.0.0.1.
    public let port: Int

    /// What it prints once it listens.
    private struct Announcement: Decodable {
        let port: Int
        let url: URL
    }

    /// Starts it; it answers when this returns.
    ///
    /// - Parameter arguments: further ones than the port.
    public init(_ arguments: [String] = [], environment: [String: String] = [:]) async throws {
        program = try PoiProgram.start(
            ["--port", "0"] + arguments, of: PoiProgram.mock, environment: environment)
        let line = try await program.output.line { $0.stream == .standardOutput }
        let announcement = try JSONDecoder().decode(Announcement.self, from: Data(line.text.utf8))
        port = announcement.port
        baseURL = announcement.url
    }

    /// Asks it to end, and waits for that; answers its exit code.
    @discardableResult
    public func stop() async throws -> Int32 {
        program.send(signal: SIGTERM)
        return try await program.exitCode()
    }
}
