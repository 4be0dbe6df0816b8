import Foundation
import Loopback
import ServerProcess
import ServiceFixtures
import Testing

@Suite("poi healthcheck", .timeLimit(.minutes(2)))
struct HealthcheckTests {
    private func check(_ arguments: String..., environment: [String: String] = [:]) async throws
        -> PoiProgram.Result
    {
        try await PoiProgram.run(["healthcheck"] + arguments, environment: environment)
    }

    private func expectSuccess(
        _ result: PoiProgram.Result, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(result.exitCode == 0, sourceLocation: sourceLocation)
        #expect(result.standardOutput + result.standardError == [], sourceLocation: sourceLocation)
    }

    private func expectFailure(
        _ result: PoiProgram.Result, naming words: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(result.exitCode == 1, sourceLocation: sourceLocation)
        #expect(result.standardOutput == [], sourceLocation: sourceLocation)
        #expect(result.standardError.count == 1, sourceLocation: sourceLocation)
        for word in words {
            #expect(result.standardError.first?.contains(word) == true, sourceLocation: sourceLocation)
        }
    }

    @Test("poi healthcheck succeeds for a server that is alive, with --ready once it is ready")
    func healthy() async throws {
        let database = try await ServiceDatabase.empty()
        let server = try await ServerProcess.serve(databaseURL: database.connectionString)
        try await server.event("migrations-missing")
        for host in ["127.0.0.1", "0.0.0.0", "localhost"] {
            expectSuccess(try await check(environment: ["HOST": host, "PORT": "\(server.port)"]))
        }
        expectSuccess(try await check("--url", "http://127.0.0.1:\(server.port)"))
        expectSuccess(try await check("--url=http://127.0.0.1:\(server.adminPort())/"))
        expectFailure(
            try await check("--ready", "--port", "\(server.port)"), naming: "/readyz", "503", "migrations")

        let migration = try await PoiProgram.run(
            ["migrate", "up"], environment: ["DATABASE_URL": database.connectionString])
        #expect(migration.exitCode == 0)
        try await server.ready()
        expectSuccess(try await check("--ready", "--port", "\(server.port)"))
        try await server.finish()
        expectFailure(try await check("--port", "\(server.port)"), naming: "/livez", "refused")
    }

    @Test("A server that takes connections and says nothing is not well, and that is said in time")
    func silent() async throws {
        let listener = try SilentListener()
        expectFailure(try await check("--port", "\(listener.port)"), naming: "no response within 2 s")
    }

    @Test(
        "A wrong call is exit code 64",
        arguments: [
            ["--url", "ftp://a"], ["--url", "https://a"], ["--url", "127.0.0.1:80"], ["--url", "http://a?b"],
            ["--url", "http://a:0"], ["--url", "http://u:p@a"], ["--port", "0"], ["now"],
        ])
    func wrongCall(arguments: [String]) async throws {
        let result = try await PoiProgram.run(["healthcheck"] + arguments)
        #expect(result.exitCode == 64)
        #expect(result.standardError.count == 1)
    }
}
