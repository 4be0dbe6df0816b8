import Loopback
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("A database that hangs", .timeLimit(.minutes(5)))
struct HangingDatabaseTests {
    @Test(
        "A database that hangs holds up requests, health checks and the shutdown no longer than their timeouts"
    )
    func hanging() async throws {
        let cluster = try await offPool {
            let cluster = PrivateCluster(ephemeralWith: [:])
            try cluster.start()
            try cluster.createDatabase("places")
            return cluster
        }
        let url = try cluster.connectionString(database: "places")
        let migration = try await PoiProgram.run(
            ["migrate", "up", "--seeds"], environment: ["DATABASE_URL": url])
        #expect(migration.exitCode == 0, "\(migration)")
        let server = try await ServerProcess.serve(databaseURL: url, environment: ["POI_LOOPS": "1"])
        try await server.ready()
        let load = Load(port: server.port, connections: 16, target: secretTarget)
        let livez = Load(port: server.port, connections: 1, target: "/livez")
        try await offPool { load.wait(successes: 5) }

        let suspended = ContinuousClock.now
        try await offPool {
            try cluster.suspendServer()
            // More than the queries in flight: also what comes while nothing is known to hang yet, and after.
            load.wait(failures: 2)
            livez.wait(successes: 5)
            try cluster.resumeServer()
        }
        let resumed = ContinuousClock.now
        let (outcomes, livezOutcomes) = try await offPool {
            load.wait(successes: 10)
            return (load.stop().flatMap(\.self), livez.stop().flatMap(\.self))
        }
        let failures = outcomes.filter { !$0.isSuccess }
        #expect(failures.contains { $0.response?.problem?.code == .queryTimeout })
        for failure in failures {
            #expect([503, 504].contains(failure.response?.status), "\(failure)")
            #expect(failure.response?.problem != nil)
            // 1 s for a connection and 2 s for a query; the rest is what a busy machine takes.
            #expect(failure.end - failure.start < .seconds(4), "\(failure)")
        }
        #expect(!failures.contains { $0.start > resumed + ReplicatedService.recoveryTime })
        #expect(livezOutcomes.allSatisfy { $0.isSuccess && $0.end - $0.start < .seconds(1) })
        #expect(livezOutcomes.filter { (suspended...resumed).contains($0.end) }.count >= 5)

        // An end in order is possible while it hangs, too.
        try await offPool { try cluster.suspendServer() }
        #expect(try await server.stop() == 0)
        try await offPool { cluster.stop() }
    }
}
