import Foundation
import Loopback
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("A replica that lags", .timeLimit(.minutes(5)))
struct LaggingReplicaTests {
    private static let target = "/locations?lat=1&long=2&limit=3"
    private static let insertion = """
        INSERT INTO locations (name, category, latitude, longitude) VALUES ('A new place', 'museum', 1, 2)
        """

    /// The responses by their tag.
    private struct TaggedResponses {
        private(set) var bodies: [String: Set<Data>] = [:]
        private(set) var lastTag = ""

        mutating func take(_ response: WireResponse) throws {
            #expect(response.status == 200)
            lastTag = try #require(response.headers["etag"])
            bodies[lastTag, default: []].insert(response.body)
        }
    }

    private func get(_ service: ReplicatedService, tag: String? = nil) async throws -> WireResponse {
        let condition = tag.map { "If-None-Match: \($0)\r\n" } ?? ""
        return try await offPool { [port = service.server.port] in
            let connection = try WireClient(port: port)
            connection.send("GET \(Self.target) HTTP/1.1\r\nHost: localhost\r\n\(condition)\r\n")
            return try connection.receiveResponse()
        }
    }

    private func hasNewPlace(_ body: Data) -> Bool {
        String(decoding: body, as: UTF8.self).contains("A new place")
    }

    @Test(
        "A replica beyond the limit of lag gets no reads until it has caught up; no tag ever has two responses"
    )
    func leftOut() async throws {
        let service = try await ReplicatedService(["POI_MAX_REPLICA_LAG": "2s"])
        try await service.waitForReadsOnStandby()
        // Reads go to the standby, while the watch follows the primary.
        var responses = TaggedResponses()
        try responses.take(try await get(service))
        let oldTag = responses.lastTag
        let (primary, standby) = (try service.session(service.primary), try service.session(service.standby))
        try await standby.run("SELECT pg_wal_replay_pause()")
        try await standby.wait(until: "pg_get_wal_replay_pause_state() = 'paused'")
        let count = service.logCount
        try await primary.run(Self.insertion)

        var confirmations = 0
        while responses.lastTag == oldTag {
            try responses.take(try await get(service))
            // A server that knows of the change says no more than that the replica still has the old rows.
            if try await get(service, tag: oldTag).status == 304 { confirmations += 1 }
        }
        try await service.event("read-server-lagging", of: service.standby, after: count)
        let newTag = responses.lastTag
        #expect(confirmations > 0)
        try await service.waitForReadsOnPrimary()
        for _ in 0..<20 {
            try responses.take(try await get(service))
            #expect(responses.lastTag == newTag)
            #expect(try await get(service, tag: oldTag).status == 200)
            #expect(try await get(service, tag: newTag).status == 304)
        }
        #expect(responses.bodies.keys.sorted() == [oldTag, newTag].sorted())
        #expect(responses.bodies.values.allSatisfy { $0.count == 1 })
        #expect(try !#require(responses.bodies[oldTag]).contains(where: hasNewPlace))
        #expect(try #require(responses.bodies[newTag]).allSatisfy(hasNewPlace))

        let caughtUp = service.logCount
        try await standby.run("SELECT pg_wal_replay_resume()")
        try await service.event("read-server-usable", of: service.standby, after: caughtUp)
        try await service.waitForReadsOnStandby()
        #expect(try await get(service, tag: newTag).status == 304)
        #expect(hasNewPlace(try await get(service).body))
        try await service.finish()
    }

    @Test("An idle primary makes no lag")
    func idle() async throws {
        let service = try await ReplicatedService(["POI_MAX_REPLICA_LAG": "1s"])
        try await service.waitForReadsOnStandby()
        let standby = try service.session(service.standby)
        let count = service.logCount
        // The last transaction is long ago; what changes nothing for readers is replayed at once.
        try await standby.wait(until: "clock_timestamp() - pg_last_xact_replay_timestamp() > interval '5 s'")
        try await service.session(service.primary).run("CHECKPOINT")
        try await standby.wait(until: "clock_timestamp() - pg_last_xact_replay_timestamp() > interval '8 s'")
        try await service.waitForReadsOnStandby()
        let events = service.server.program.output.lines.dropFirst(count)
        #expect(!events.contains { $0.text.contains("read-server-lagging") })
        try await service.finish()
    }
}

/// A primary, a streaming standby of it, and a server that reads from the standby where it can.
struct ReplicatedService {
    /// What the contract promises between a database's return and the service's.
    static let recoveryTime = Duration.seconds(2)
    private static let database = "places"

    let primary: PrivateCluster
    let standby: PrivateCluster
    let server: ServerProcess

    /// - Parameter environment: the server's settings.
    init(_ environment: [String: String] = [:]) async throws {
        (primary, standby) = try await offPool {
            let primary = PrivateCluster(ephemeralWith: [:])
            try primary.start()
            try primary.createDatabase(Self.database)
            return (primary, PrivateCluster(standbyOf: primary))
        }
        let url = try primary.connectionString(database: Self.database)
        let result = try await PoiProgram.run(
            ["migrate", "up", "--seeds"], environment: ["DATABASE_URL": url])
        #expect(result.exitCode == 0, "\(result)")
        try await offPool { [standby] in try standby.start() }
        let hosts = "\(try standby.socketFolder()),\(try primary.socketFolder())"
        let reads =
            "postgresql://postgres@/\(Self.database)?host=\(hosts)&target_session_attrs=prefer-standby"
        server = try await ServerProcess.serve(
            databaseURL: url,
            environment: ["POI_READ_DATABASE_URL": reads, "POI_LOOPS": "1"].merging(environment) { $1 })
        try await server.ready()
    }

    /// A session of the test's own with one of the two.
    func session(_ cluster: PrivateCluster) throws -> DatabaseSession {
        try DatabaseSession(cluster.connectionString(database: Self.database))
    }

    /// Waits until all connections for reads are where they belong: on the standby, and none on the primary.
    func waitForReadsOnStandby() async throws {
        try await wait(for: Self.readConnections + 1, on: standby)
        try await wait(for: Self.ownConnections, on: primary)
    }

    /// Waits until reads go to the primary.
    func waitForReadsOnPrimary() async throws {
        try await wait(for: Self.ownConnections + Self.readConnections, on: primary)
    }

    /// By default 3 fast and 3 exclusive connections a loop; a server that is read from has the monitor's, too.
    private static let readConnections = 6
    /// What the primary has in any case: the watch's two, the listener's, the monitor's and the loop's for events.
    private static let ownConnections = 5

    private func wait(for count: Int, on cluster: PrivateCluster) async throws {
        try await session(cluster).wait(
            until: """
                count(*) = \(count) FROM pg_stat_activity WHERE application_name = 'points-of-interest'
                """)
    }

    /// Waits for the server's word on a server for reads, not counting the log's first `count` lines.
    func event(_ name: String, of cluster: PrivateCluster, after count: Int = 0) async throws {
        let folder = try cluster.socketFolder()
        _ = try await server.program.output.line(after: count) {
            $0.text.contains(#""event":"\#(name)""#) && $0.text.contains("\(folder)")
        }
    }

    /// How many lines the server's log has, from which to wait for an event.
    var logCount: Int { server.program.output.lines.count }

    /// Ends everything.
    func finish() async throws {
        #expect(try await server.stop() == 0)
        try await offPool { [primary, standby] in
            standby.stop()
            primary.stop()
        }
    }
}
