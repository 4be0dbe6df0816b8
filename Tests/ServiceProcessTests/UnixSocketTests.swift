import Foundation
import ServerProcess
import ServiceFixtures
import Testing

@Suite("A service on a Unix socket", .timeLimit(.minutes(1)))
struct UnixSocketTests {
    @Test("The service serves, is asked for its health there, and takes the socket along when it ends")
    func serves() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let host = "unix:\(folder.path)/poi.sock"
        let program = try PoiProgram.start(
            ["serve", "--host", host],
            environment: [
                "DATABASE_URL": try await ServiceDatabase.migrated().connectionString, "POI_LOOPS": "2",
            ])
        _ = try await program.output.line { $0.stream == .standardOutput && $0.text == "serving \(host)" }
        _ = try await program.output.line { $0.text.contains(#""event":"migrations-applied""#) }
        for arguments in [["healthcheck"], ["healthcheck", "--ready"]] {
            let result = try await PoiProgram.run(arguments + ["--host", host])
            #expect(result.exitCode == 0, "\(result.standardError)")
        }
        _ = try await program.output.line {
            $0.text.contains(#""path":"/readyz""#) && $0.text.contains(#""client":"unix""#)
        }
        program.send(signal: SIGTERM)
        #expect(try await program.exitCode() == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/poi.sock"))
        let result = try await PoiProgram.run(["healthcheck", "--host", host])
        #expect(result.exitCode == 1)
        #expect(result.standardError.count == 1)
    }

    @Test(
        "A path that can't be one is a bad setting",
        arguments: ["unix:", "unix:relative", "unix:/" + String(repeating: "x", count: 120)])
    func badPath(host: String) async throws {
        let result = try await PoiProgram.run(["serve", "--host", host, "--print-config"])
        #expect(result.exitCode == 64)
        #expect(result.standardError.count == 1)
    }
}
