import Foundation
import Loopback
import ServerProcess
import ServiceFixtures
import Testing

@Suite("The admin listener", .timeLimit(.minutes(2)))
struct AdminListenerTests {
    @Test("The admin port serves health and metrics and nothing else, without key or limit")
    func routes() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString,
            environment: [
                "POI_API_KEYS": "0123456789abcdef", "POI_RATE_LIMIT": "2/h",
                "POI_LOOPS": "1",
            ])
        try await server.ready()
        let port = try await server.adminPort()
        for _ in 0..<3 {
            for target in ["/livez", "/readyz", "/metrics"] {
                #expect(try await get(target, port: port).status == 200)
            }
        }
        for target in ["/", "/locations?lat=37&long=-121", "/openapi.json", "/metrics/", "/debug"] {
            let response = try await get(target, port: port)
            #expect(response.status == 404)
            #expect(response.problem?.code == .unknownPath)
        }
        #expect(try await get("/metrics", port: server.port).status == 404, "not where clients are")
        #expect(try await get("/livez", port: server.port).status == 200)
        #expect(try await get(secretTarget, port: server.port).problem?.code == .unauthorized)
        #expect(try await get(secretTarget, port: server.port).problem?.code == .tooManyRequests)
        try await server.finish()
    }

    @Test(
        "The admin port serves to the very end: it counts the last request when nobody can connect elsewhere")
    func staysWhileFinishing() async throws {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: [
                "POI_INDEX": "off", "POI_DB_STATEMENT_TIMEOUT": "60s", "POI_REQUEST_TIMEOUT": "60s",
            ])
        try await server.ready()
        let before = try await server.scrape()
        #expect(before["poi_ready"] == 1)
        #expect(before["poi_draining"] == 0)
        #expect(before["http_server_active_requests"] == 0)
        let session = try DatabaseSession(database.connectionString)
        try await session.lockPlaces()
        let request = Task { [port = server.port] in try await get(secretTarget, port: port) }
        try await session.waitForBlockedQueries()

        server.program.send(signal: SIGTERM)
        try await server.event("finishing")
        try await offPool { [port = server.port] in while (try? WireClient(port: port)) != nil {} }
        let last = try await server.scrape()
        #expect(last["poi_ready"] == 0)
        #expect(last["poi_draining"] == 1)
        #expect(last["http_server_active_requests"] == 1)
        let readiness = try await get("/readyz", port: server.adminPort())
        #expect(readiness.status == 503)
        #expect(readiness.problem?.code == .notReady)
        #expect(try await get("/livez", port: server.adminPort()).status == 200)
        try await session.unlockPlaces()
        #expect(try await request.value.status == 200)
        #expect(try await server.program.exitCode() == 0)
        server.expectSoundOutput()
    }

    @Test("The port for administration can be switched off")
    func off() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString, environment: ["POI_ADMIN_PORT": "off"])
        try await server.ready()
        #expect(try await get(secretTarget, port: server.port).status == 200)
        try await server.finish()
        #expect(!server.program.output.text.contains("admin-listening"))
    }
}
