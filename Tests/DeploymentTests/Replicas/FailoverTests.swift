import Loopback
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Reads with a primary and a replica", .serialized, .timeLimit(.minutes(5)))
struct FailoverTests {
    /// Reads that are lost are repeated within the time-outs. These leave a busy machine the time to start sessions
    /// with the other server; by default it is 1 s and 2 s.
    private static let timeouts = [
        "POI_DB_ACQUIRE_TIMEOUT": "5s", "POI_DB_STATEMENT_TIMEOUT": "5s", "POI_REQUEST_TIMEOUT": "10s",
    ]

    @Test("Reads lose no request while one of two servers is left, and are soon back after both were away")
    func outages() async throws {
        let service = try await ReplicatedService(Self.timeouts)
        let (primary, standby) = (service.primary, service.standby)
        try await service.waitForReadsOnStandby()
        let load = Load(port: service.server.port, connections: 16, target: secretTarget)
        try await offPool { load.wait(successes: 5) }

        try await offPool {
            try primary.stopServer(.immediate)
            load.wait(successes: 20)
            try primary.startServer()
        }

        try await offPool {
            try standby.stopServer(.immediate)
            load.wait(successes: 20)
        }
        try await service.waitForReadsOnPrimary()
        try await offPool {
            try standby.startServer()
            load.wait(successes: 5)
        }
        try await service.waitForReadsOnStandby()

        let bothStopping = ContinuousClock.now
        try await offPool {
            try primary.stopServer(.immediate)
            try standby.stopServer(.immediate)
        }
        let bothStopped = ContinuousClock.now
        try await offPool {
            load.wait(failures: 2)
            try primary.startServer()
            try standby.startServer()
        }
        let bothReturned = ContinuousClock.now
        let outcomes = try await offPool {
            load.wait(successes: 10)
            return load.stop().flatMap(\.self)
        }

        let failures = outcomes.filter { !$0.isSuccess }
        // While one of the two is there, it gets the reads that the other one lost.
        let withOneLeft = failures.filter { $0.end < bothStopping }
        #expect(withOneLeft.isEmpty, "\(withOneLeft.count): \(withOneLeft.prefix(5))")
        let recovery = ReplicatedService.recoveryTime
        let late = failures.filter { $0.start > bothReturned + recovery }
        #expect(late.isEmpty, "\(late.prefix(5))")
        #expect(
            outcomes.contains { $0.isSuccess && (bothReturned...bothReturned + recovery).contains($0.end) })
        let unavailable = failures.filter { $0.start > bothStopped && $0.end < bothReturned }
        #expect(!unavailable.isEmpty)
        for failure in failures {
            #expect(failure.response?.status == 503, "\(failure)")
            #expect([.databaseUnavailable, .databaseBusy].contains(failure.response?.problem?.code))
            #expect(failure.response?.headers["retry-after"] != nil)
        }
        // The acquire time-out; the rest is what a busy machine takes.
        for failure in unavailable { #expect(failure.end - failure.start < .seconds(6), "\(failure)") }
        try await service.finish()
    }

    @Test("Reads leave a replica that hangs for the primary in their time, and return once it responds again")
    func hangingReplica() async throws {
        // A second more than by default, for a busy machine to start sessions with the other server.
        let service = try await ReplicatedService([
            "POI_DB_STATEMENT_TIMEOUT": "3s", "POI_REQUEST_TIMEOUT": "3s",
        ])
        try await service.event("read-server-usable", of: service.standby)
        try await service.waitForReadsOnStandby()
        let load = Load(port: service.server.port, connections: 8, target: secretTarget)
        try await offPool { load.wait(successes: 5) }
        let count = service.logCount
        let standby = service.standby
        try await offPool { try standby.suspendServer() }
        try await service.event("read-server-silent", of: standby, after: count)
        try await service.waitForReadsOnPrimary()
        try await offPool {
            load.wait(successes: 20)
            try standby.resumeServer()
        }
        try await service.waitForReadsOnStandby()
        let outcomes = try await offPool {
            load.wait(successes: 5)
            return load.stop().flatMap(\.self)
        }
        // What it had when it froze has run again on the primary.
        let failures = outcomes.filter { !$0.isSuccess }
        #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(5))")
        try await service.finish()
    }
}

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
