import Loopback
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Bodies that are announced through a balancer, and don't come", .timeLimit(.minutes(5)))
struct AnnouncedBodyTests {
    private static func head(_ fields: String) -> String {
        "POST /events HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n\(fields)\r\n\r\n"
    }

    @Test("Announced bodies that never arrive keep no other events out", arguments: Balancer.Kind.allCases)
    func others(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 1, settings: ["POI_TRUSTED_PROXIES": "127.0.0.0/8"])
        let balancer = try await Balancer(kind, for: fleet)
        let port = balancer.port
        // More than 0.2.0 reserved memory for. HAProxy passes the server's 100 on; nginx responds with one itself.
        let announcing = try await offPool {
            try (0..<40).map { _ in
                let client = try WireClient(port: port)
                client.send(Self.head("Content-Length: 1048576\r\nExpect: 100-continue"))
                #expect(try client.receiveMessage().head.hasPrefix("HTTP/1.1 100 "))
                return client
            }
        }
        let response = try await offPool {
            let client = try WireClient(port: port)
            defer { client.close() }
            client.send(Self.head("Content-Length: 2") + "[]")
            return try client.receiveMessage().head
        }
        #expect(response.hasPrefix("HTTP/1.1 200 "), "\(response)")
        for client in announcing { client.reset() }
        try await balancer.stop()
        try await fleet.finish()
    }
}
