import Foundation
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

/// Three servers behind the balancer that is shipped, on a database that keeps what it has committed.
struct EventSite {
    /// What may end without being asked.
    enum Blow: CaseIterable {
        case server, database, client
    }

    let cluster: PrivateCluster
    let databaseURL: String
    let balancer: Balancer
    private var fleet: ServerFleet

    private static let serverCount = 3

    init() async throws {
        // What other tests do without: a restart must not lose what was committed.
        let cluster = PrivateCluster(ephemeralWith: [
            "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
        ])
        self.cluster = cluster
        databaseURL = try await offPool {
            try cluster.start()
            try cluster.createDatabase("places")
            return try cluster.connectionString(database: "places")
        }
        let result = try await PoiProgram.run(
            ["migrate", "up", "--seeds"], environment: ["DATABASE_URL": databaseURL])
        #expect(result.exitCode == 0, "\(result)")
        fleet = try await ServerFleet(
            count: Self.serverCount, databaseURL: databaseURL, settings: ["POI_DRAIN_DELAY": "0"])
        balancer = try await Balancer(.haproxy, for: fleet)
    }

    /// Kills a server, and starts it again at its address.
    mutating func killServer(_ index: Int) async throws {
        try await fleet.kill(index % Self.serverCount)
    }

    /// Stops the database at once, as a crash does, and starts it again.
    func crashDatabase() async throws {
        let cluster = cluster
        try await offPool { try cluster.restartServer(.immediate) }
    }

    /// Ends everything.
    func finish() async throws {
        try await balancer.stop()
        try await fleet.finish()
        let cluster = cluster
        try await offPool { cluster.stop() }
    }
}
