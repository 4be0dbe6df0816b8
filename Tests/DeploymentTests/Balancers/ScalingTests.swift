import Loopback
import ServerProcess
import ServiceFixtures
import Testing

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
