import Foundation
import Loopback
import ServerProcess
import ServiceFixtures
import Testing

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
