import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Events on a primary whose standby is away", .timeLimit(.minutes(5)))
struct UnreplicatedEventsTests {
    private static let event =
        #"[{"id":"5C1F2E2A-7C55-4B1E-9C5E-0B6B2B2C9D11","user_id":"u","time":1536753250,"event":{"name":"e","value":{}}}]"#

    /// A commit that waits for a standby can be read by nobody, until PostgreSQL is restarted: then it is there, though still
    /// on no other disk. An event that is sent again must not be acknowledged for that.
    @Test("An event that is stored already is acknowledged only when the standby has it, too")
    func sentAgain() async throws {
        let cluster = PrivateCluster(ephemeralWith: ["fsync": "on"])
        let url = try await offPool {
            try cluster.start()
            try cluster.createDatabase("places")
            return try cluster.connectionString(database: "places")
        }
        let migration = try await PoiProgram.run(["migrate", "up"], environment: ["DATABASE_URL": url])
        #expect(migration.exitCode == 0, "\(migration)")
        let server = try await ServerProcess.serve(
            databaseURL: url, environment: ["POI_LOOPS": "1", "POI_EVENTS_STATEMENT_TIMEOUT": "2s"])
        try await server.ready()

        try await offPool { try Self.require(cluster, standby: "away") }
        #expect(try await postEvents(Self.event, port: server.port).status == 503)
        try await offPool { try cluster.restartServer(.immediate) }
        let session = try DatabaseSession(url)
        try await session.wait(until: "count(*) = 1 FROM events")
        try await server.ready()
        for _ in 0..<2 {
            #expect(try await postEvents(Self.event, port: server.port).status == 503)
        }

        try await offPool { try Self.require(cluster, standby: "") }
        var response = try await postEvents(Self.event, port: server.port)
        while response.status == 503 { response = try await postEvents(Self.event, port: server.port) }
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"accepted":0,"duplicates":1}"#)
        #expect(try await server.stop() == 0)
        try await offPool { cluster.stop() }
    }

    /// Which standby commits wait for.
    private static func require(_ cluster: PrivateCluster, standby: String) throws {
        try cluster.execute("ALTER SYSTEM SET synchronous_standby_names = '\(standby)'")
        try cluster.execute("SELECT pg_reload_conf()")
    }
}
