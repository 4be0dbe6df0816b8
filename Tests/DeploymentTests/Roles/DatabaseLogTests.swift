import ServerProcess
import ServiceFixtures
import Testing

@Suite("The database's log with deploy/postgres", .timeLimit(.minutes(5)))
struct DatabaseLogTests {
    @Test("Slow, failed and cancelled statements are in the database's log, without coordinates")
    func noCoordinates() async throws {
        // Every statement is slow.
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let database = try await PreparedDatabase(
            in: folder, settings: ["log_min_duration_statement": "0", "fsync": "off"])
        defer { database.cluster.stop() }
        try await database.migrate()
        let server = try await ServerProcess.serve(
            databaseURL: await database.url("poi_serve"), environment: ["POI_DB_STATEMENT_TIMEOUT": "500ms"])
        try await server.ready()
        #expect(try await get(secretTarget, port: server.port).status == 200)
        #expect(try await get(secretTarget + "&q=museum", port: server.port).status == 200)

        let session = try DatabaseSession(await database.url("postgres"))
        try await session.lockPlaces()
        #expect(try await get(secretTarget, port: server.port).status == 504)
        #expect(try await get(secretTarget + "&q=museum", port: server.port).status == 504)
        try await session.unlockPlaces()
        #expect(try await server.stop() == 0)

        // Once the server has ended, its log is whole.
        let log = try await database.logAfterStop()
        #expect(log.contains("duration:") && log.contains("FROM locations"))
        #expect(log.contains("canceling statement due to"))
        // Cubes of space and ids of places tell as much as coordinates do: no parameter at all is there.
        #expect(!log.contains("parameters:") && !log.contains("$1 ="))
        #expect(!log.contains("37.3293135") && !log.contains("121.8893864"))
        #expect(server.program.output.unsoundLines == [])
    }
}
