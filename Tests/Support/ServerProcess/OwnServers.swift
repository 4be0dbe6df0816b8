import Foundation

/// The servers that this process starts, each when the first test needs it, and shares until its end.
public enum OwnServers {
    /// The origin that they let in.
    public static let origin = "https://app.example"

    /// `poi dev`, on a fresh database with the seed. It serves from memory, or where `POI_INDEX=off` is set for the tests,
    /// from the database.
    ///
    /// - Throws: `ProgramFailure` where it doesn't start.
    public static func local() async throws -> ServerProcess { try await localStart.value }

    /// `poi-mock`, with the seed.
    ///
    /// - Throws: `ProgramFailure` where it doesn't start.
    public static func mock() async throws -> MockServerProcess { try await mockStart.value }

    private static let settings = ["POI_CORS_ORIGINS": origin]

    private static let localStart = Task {
        let folder = try TemporaryFolder()
        var environment = settings
        environment["POI_INDEX"] = ProcessInfo.processInfo.environment["POI_INDEX"] ?? "on"
        let server = try await ServerProcess.dev(in: folder, environment: environment)
        server.program.endAtExit(removing: folder)
        try await server.ready()
        return server
    }

    private static let mockStart = Task {
        let server = try await MockServerProcess(environment: settings)
        server.program.endAtExit()
        return server
    }
}
