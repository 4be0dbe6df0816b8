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

@Suite("A balancer that reads its configuration again", .serialized, .timeLimit(.minutes(5)))
struct ReloadTests {
    private static let connections = 64
    private static let reloads = 3

    /// nginx 1.22 closes idle connections at a reload, also one that a request is on its way on. Its clients send that
    /// request again, as RFC 9112, section 9.3.1 lets them; HAProxy's need not.
    @Test("A balancer loses no request in several reloads under load", arguments: Balancer.Kind.allCases)
    func losesNothing(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 3)
        let balancer = try await Balancer(kind, for: fleet)
        let load = Load(
            port: balancer.port, connections: Self.connections, target: secretTarget,
            sendsAgain: kind == .nginx)
        for _ in 0..<Self.reloads {
            try await offPool { load.wait(successes: 5) }
            try await balancer.reload()
        }
        let outcomes = try await offPool {
            load.wait(successes: 5)
            return load.stop().flatMap(\.self)
        }
        let failures = outcomes.filter { !$0.isSuccess }
        print("\(kind): \(outcomes.count) requests in \(Self.reloads) reloads, \(failures.count) failed")
        #expect(failures.isEmpty, "\(failures.prefix(10))")
        try await balancer.endsFormerProcesses(Self.reloads)
        #expect(try await !balancer.stop().contains { $0.tellsCoordinates })
        try await fleet.finish()
    }

    @Test("HAProxy keeps an idle connection until its next response, which says that it is the last")
    func keepsIdleConnection() async throws {
        let fleet = try await ServerFleet(count: 1)
        let balancer = try await Balancer(.haproxy, for: fleet)
        let connection = try await offPool { [port = balancer.port] in
            let connection = try WireClient(port: port)
            connection.sendGet(secretTarget)
            #expect(try connection.receiveResponse().headers["connection"] == nil)
            return connection
        }
        try await balancer.reload()
        _ = try await balancer.program.output.line { $0.text.contains("Proxy http stopped") }
        let response = try await offPool {
            connection.sendGet(secretTarget)
            return try connection.receiveResponse()
        }
        #expect(response.status == 200)
        #expect(response.headers["connection"] == "close")
        // The old process had this one client.
        try await balancer.endsFormerProcesses(1)
        try await balancer.stop()
        try await fleet.finish()
    }
}

@Suite("HAProxy follows the DNS", .timeLimit(.minutes(5)))
struct ScalingTests {
    @Test("One server becomes four and four become one, and no request fails")
    func scales() async throws {
        let fleet = try await ServerFleet(count: 4)
        let names = try await NameServer(addresses: [ServerFleet.host(0)])
        let balancer = try await Balancer(.haproxy, for: fleet, names: names)
        let load = Load(port: balancer.port, connections: 16, target: secretTarget)
        try await offPool { load.wait(successes: 5) }
        #expect(try await fleet.placesResponseCounts().dropFirst().allSatisfy { $0 == 0 })

        try await names.change(addresses: fleet.hosts)
        for server in fleet.servers { try await server.servesPlaces(50) }

        try await names.change(addresses: [ServerFleet.host(0)])
        try await balancer.forgets(3)
        // One more response on every connection: then nothing is in flight any more that was.
        try await offPool { load.wait(successes: 2) }
        let before = try await fleet.placesResponseCounts()
        try await offPool { load.wait(successes: 20) }
        let after = try await fleet.placesResponseCounts()
        #expect(after.dropFirst() == before.dropFirst())
        #expect(after[0] >= before[0] + 20 * 16)

        let outcomes = try await offPool { load.stop().flatMap(\.self) }
        #expect(outcomes.allSatisfy { $0.isSuccess })
        try await balancer.stop()
        try await names.stop()
        try await fleet.finish()
    }
}

extension ServerFleet {
    /// How many requests for places each server has served, by its metrics: the log is written a moment later.
    fileprivate func placesResponseCounts() async throws -> [Double] {
        var counts: [Double] = []
        for server in servers {
            let response = try await get("/metrics", port: server.adminPort())
            let metrics = try PrometheusText(String(decoding: response.body, as: UTF8.self))
            counts.append(
                metrics.sum(
                    "http_server_request_duration_seconds_count", #"http_route="/locations""#))
        }
        return counts
    }
}

extension Balancer {
    /// Waits until HAProxy has left out so many servers because the DNS doesn't know them any more.
    fileprivate func forgets(_ count: Int) async throws {
        try await program.output.lines(count) {
            $0.text.contains("is going DOWN for maintenance (No IP for server")
        }
    }
}

@Suite("A restart in place", .timeLimit(.minutes(5)))
struct RestartTests {
    @Test("A server that is started again serves on the port that it had")
    func keepsPort() async throws {
        let databaseURL = try await ServiceDatabase.migrated().connectionString
        let first = try await ServerProcess.serve(databaseURL: databaseURL)
        try await first.ready()
        #expect(try await get(secretTarget, port: first.port).status == 200)
        #expect(try await first.stop() == 0)

        let second = try await ServerProcess.serve(databaseURL: databaseURL, port: first.port)
        try await second.ready()
        #expect(second.port == first.port)
        #expect(try await get(secretTarget, port: first.port).places?.count == 20)
        #expect(try await second.stop() == 0)
    }
}
