import Foundation
import Loopback
import PointsOfInterestClient
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Behind a balancer, under load", .serialized, .timeLimit(.minutes(5)))
struct RollingDeploymentTests {
    /// Less than the 5 s that are the default, more than the 1.5 s that HAProxy takes to notice as it is shipped.
    private static let drain = ["POI_DRAIN_DELAY": "2s"]
    private static let connections = 64

    /// What the second round's servers need and the first round's don't know.
    private static let migration = (
        name: "9000_add_opening_hours",
        sql: """
        -- migrate:up
        ALTER TABLE locations ADD COLUMN opening_hours text;

        -- migrate:down
        ALTER TABLE locations DROP COLUMN opening_hours;
        """
    )

    @Test("Two deployments with a migration in between lose no request", arguments: Balancer.Kind.allCases)
    func rolls(kind: Balancer.Kind) async throws {
        var fleet = try await ServerFleet(count: 3, settings: Self.drain)
        let balancer = try await Balancer(kind, for: fleet)
        let load = Load(port: balancer.port, connections: Self.connections, target: secretTarget)
        try await offPool { load.wait(successes: 5) }

        for index in fleet.servers.indices { try await fleet.restart(index) }
        try await fleet.migrate(adding: Self.migration.name, Self.migration.sql)
        for index in fleet.servers.indices { try await fleet.restart(index) }

        let outcomes = try await offPool {
            load.wait(successes: 5)
            return load.stop().flatMap(\.self)
        }
        let failures = outcomes.filter { !$0.isSuccess }
        print("\(kind): \(outcomes.count) requests, \(failures.count) failed")
        #expect(failures.isEmpty, "\(failures.prefix(10))")
        try await expectSound(balancer, fleet)
    }

    @Test("A server that drains loses no request, although HAProxy sends none again")
    func drains() async throws {
        var fleet = try await ServerFleet(count: 3, settings: Self.drain)
        let balancer = try await Balancer(.haproxy, for: fleet, changes: [.noRetries])
        let load = Load(port: balancer.port, connections: Self.connections, target: secretTarget)
        try await offPool { load.wait(successes: 5) }
        try await fleet.restart(0)
        let failures = try await offPool {
            load.wait(successes: 5)
            return load.stop().flatMap(\.self).filter { !$0.isSuccess }
        }
        #expect(failures.isEmpty, "\(failures.prefix(10))")
        try await expectSound(balancer, fleet)
    }

    @Test("A killed server loses no request", arguments: Balancer.Kind.allCases)
    func survivesKill(kind: Balancer.Kind) async throws {
        let failures = try await failuresWhereAServerIsKilled(kind)
        #expect(failures.isEmpty, "\(failures.prefix(10))")
    }

    @Test("Without retries a killed server loses the requests that it had, and no other")
    func losesOnlyRequestsInFlight() async throws {
        let failures = try await failuresWhereAServerIsKilled(
            .haproxy,
            changes: [.init(from: "retry-on conn-failure empty-response", to: "retry-on conn-failure")])
        #expect(!failures.isEmpty)
        #expect(failures.count < Self.connections)
        for failure in failures {
            // On a connection that has had responses already HAProxy hangs up instead, so that the client tries again.
            #expect(failure.response == nil || failure.response?.problem?.code == .badGateway, "\(failure)")
        }
    }

    @Test("HAProxy that has just started lets no request wait for one of its servers")
    func startsWithoutQueue() async throws {
        let fleet = try await ServerFleet(count: 2)
        // How many requests were served before one that had to wait.
        let balancer = try await Balancer(
            .haproxy, for: fleet, changes: [.init(from: #""queueMs":%Tw"#, to: #""ahead":"%bq %sq""#)])
        let load = Load(port: balancer.port, connections: Self.connections, target: secretTarget)
        try await offPool {
            load.wait(successes: 5)
            _ = load.stop()
        }
        let log = try await balancer.stop().filter { $0.hasPrefix("{") }
        let delayed = log.filter { !$0.contains(#""ahead":"0 0""#) }
        #expect(log.count > Self.connections)
        #expect(delayed.isEmpty, "\(delayed.count) of \(log.count), first \(delayed.first ?? "")")
        try await fleet.finish()
    }

    /// Kills one server of three under load, and starts it again; returns the requests that failed.
    private func failuresWhereAServerIsKilled(
        _ kind: Balancer.Kind, changes: [Balancer.Change] = []
    ) async throws -> [Load.Outcome] {
        var fleet = try await ServerFleet(count: 3, settings: Self.drain)
        let balancer = try await Balancer(kind, for: fleet, changes: changes)
        let load = Load(port: balancer.port, connections: Self.connections, target: secretTarget)
        try await offPool { load.wait(successes: 20) }
        fleet.servers[1].program.send(signal: SIGKILL)
        #expect(try await fleet.servers[1].program.exitCode() == 128 + SIGKILL)
        try await offPool { load.wait(successes: 20) }
        try await fleet.startAgain(1)
        let outcomes = try await offPool { load.stop().flatMap(\.self) }
        let failures = outcomes.filter { !$0.isSuccess }
        print("\(kind): \(outcomes.count) requests, \(failures.count) failed")
        try await expectSound(balancer, fleet)
        return failures
    }

    private func expectSound(_ balancer: Balancer, _ fleet: ServerFleet) async throws {
        let log = try await balancer.stop()
        #expect(log.count { $0.hasPrefix("{") } > Self.connections)
        #expect(!log.contains { $0.tellsCoordinates })
        try await fleet.finish()
    }
}

extension Balancer.Change {
    /// Neither a request that was sent nor a connection that failed is tried again.
    fileprivate static let noRetries = Self(from: "retries 3", to: "retries 0")
}
