import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

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
