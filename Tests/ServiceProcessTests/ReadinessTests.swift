import Foundation
import Loopback
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Readiness", .timeLimit(.minutes(2)))
struct ReadinessTests {
    @Test("The service gets ready by itself once the migrations are applied")
    func waitsForMigrations() async throws {
        let database = try await ServiceDatabase.empty()
        let server = try await ServerProcess.serve(databaseURL: database.connectionString)
        try await server.event("migrations-missing")
        let response = try await get("/readyz", port: server.port)
        #expect(response.status == 503)
        #expect(response.problem?.code == .notReady)
        #expect(response.headers["retry-after"] != nil)
        #expect(try await get("/livez", port: server.port).status == 200)

        let migration = try await PoiProgram.run(
            ["migrate", "up"], environment: ["DATABASE_URL": database.connectionString])
        #expect(migration.exitCode == 0)
        try await server.ready()
        #expect(try await get("/readyz", port: server.port).status == 200)
        #expect(try await get(secretTarget, port: server.port).places == [])
        try await server.finish()
    }

    @Test("Migrations that are newer than the binary don't keep it from being ready")
    func newerMigrations() async throws {
        let database = try await ServiceDatabase.migrated()
        try await DatabaseSession(database.connectionString)
            .run("INSERT INTO schema_migrations VALUES ('9999', '', '')")
        let server = try await ServerProcess.serve(databaseURL: database.connectionString)
        try await server.ready()
        #expect(try await get("/readyz", port: server.port).status == 200)
        try await server.finish()
    }
}

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

extension ServerProcess {
    /// Ends the service in order, and checks what every run of it must show: that it hasn't crashed, and that
    /// its output has no coordinates of a request.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let exitCode = try await stop()
        #expect(exitCode == 0, "\(program.output.text)", sourceLocation: sourceLocation)
        expectSoundOutput(sourceLocation: sourceLocation)
    }

    func expectSoundOutput(sourceLocation: SourceLocation = #_sourceLocation) {
        let telling = program.output.unsoundLines
        #expect(
            telling.isEmpty, "\(telling.prefix(50).joined(separator: "\n"))", sourceLocation: sourceLocation)
    }
}

extension ServerProcess {
    /// Its metrics now, which have to be in order.
    func scrape() async throws -> PrometheusText {
        let response = try await get("/metrics", port: adminPort())
        #expect(response.status == 200)
        #expect(response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response.headers["cache-control"] == "no-store")
        return try PrometheusText(String(decoding: response.body, as: UTF8.self))
    }
}
