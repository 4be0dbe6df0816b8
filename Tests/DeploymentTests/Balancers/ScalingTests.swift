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
        #expect(fleet.servers.dropFirst().allSatisfy { $0.placesResponseCount == 0 })

        try await names.change(addresses: fleet.hosts)
        for server in fleet.servers { try await server.servesPlaces(50) }

        try await names.change(addresses: [ServerFleet.host(0)])
        try await balancer.forgets(3)
        // One more response on every connection: then nothing is in flight any more that was.
        try await offPool { load.wait(successes: 2) }
        let counts = fleet.servers.map(\.placesResponseCount)
        try await offPool { load.wait(successes: 20) }
        #expect(fleet.servers.dropFirst().map(\.placesResponseCount) == Array(counts.dropFirst()))
        #expect(fleet.servers[0].placesResponseCount >= counts[0] + 20 * 16)

        let outcomes = try await offPool { load.stop().flatMap(\.self) }
        #expect(outcomes.allSatisfy { $0.isSuccess })
        try await balancer.stop()
        try await names.stop()
        try await fleet.finish()
    }
}

extension ServerProcess {
    /// How many requests for places it has served.
    fileprivate var placesResponseCount: Int {
        program.output.lines(of: .standardError).count { $0.contains(#""path":"/locations""#) }
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
