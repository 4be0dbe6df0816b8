import Foundation
import ServerProcess
import ServiceFixtures
import Testing

@Suite("A balancer's log", .timeLimit(.minutes(5)))
struct BalancerLogTests {
    /// Ways of telling where one is, right and wrong.
    private static let requests = [
        "GET \(secretTarget) HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /locations%3Flat=37.32931357&long=-121.88938642 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /locations/37.32931357,-121.88938642 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /37.32931357/-121.88938642/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://a\(secretTarget) HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET \(secretTarget) HTTP/1.1\r\nHost: a\r\nReferer: http://a\(secretTarget)\r\nUser-Agent: 37.32931357\r\n\r\n",
        "GET \(secretTarget) BAD\r\nHost: a\r\n\r\n",
        "GET \(secretTarget) HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "\(secretTarget)\r\n\r\n",
        "GET \(secretTarget) HTTP/1.1\r\nHost: a\r\nX-Request-Id: 37.32931357\"\r\n\r\n",
    ]

    @Test("A balancer's log has no coordinates, with servers and without", arguments: Balancer.Kind.allCases)
    func hasNoCoordinates(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 1)
        let balancer = try await Balancer(kind, for: fleet)
        for request in Self.requests { _ = try await balancer.exchange(request) }
        try await fleet.finish()
        for request in Self.requests { _ = try await balancer.exchange(request) }
        let log = try await balancer.stop()

        let entries = log.filter { $0.hasPrefix("{") }
        #expect(entries.count >= 2 * Self.requests.count)
        #expect(log.filter { $0.tellsCoordinates } == [])
        for entry in entries {
            let object = try JSONSerialization.jsonObject(with: Data(entry.utf8)) as? [String: Any]
            #expect(object?["event"] as? String == "request", "\(entry)")
        }
        #expect(entries.contains { $0.contains(#""path":"/locations""#) && $0.contains(#""status":200"#) })
    }

    @Test(
        "A line of a balancer's log is whole JSON, however long a request's parts are",
        arguments: Balancer.Kind.allCases)
    func staysWhole(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 1)
        let balancer = try await Balancer(kind, for: fleet)
        let id = String(repeating: "i", count: 128)
        let lengths = [900, 7000, 15_000]
        for length in lengths {
            _ = try await balancer.exchange(
                "GET /\(String(repeating: "p", count: length)) HTTP/1.1\r\nHost: a\r\nX-Request-Id: \(id)\r\n\r\n"
            )
        }
        _ = try await balancer.exchange(
            "\(String(repeating: "M", count: 15_000)) /\(String(repeating: "p", count: 7000)) HTTP/1.1\r\nHost: a\r\n\r\n"
        )
        try await fleet.finish()

        let entries = try await balancer.stop().filter { $0.hasPrefix("{") && !$0.contains("/locations") }
        #expect(entries.count == lengths.count + 1)
        for (entry, length) in zip(entries, lengths) {
            let object = try JSONSerialization.jsonObject(with: Data(entry.utf8)) as? [String: Any]
            #expect(object?["requestId"] as? String == id)
            let path = try #require(object?["path"] as? String)
            #expect(path.count == (kind == .haproxy ? min(length + 1, 4096) : length + 1))
        }
        _ = try JSONSerialization.jsonObject(with: Data(try #require(entries.last).utf8))
    }

    @Test(
        "A balancer's log and a server's log have a request's id in common", arguments: Balancer.Kind.allCases
    )
    func sharesRequestID(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 1)
        let balancer = try await Balancer(kind, for: fleet)
        let id = try #require(try await get(secretTarget, port: balancer.port).headers["x-request-id"])
        try await fleet.servers[0].logLines(1) { $0.contains(#""requestId":"\#(id)""#) }
        try await fleet.finish()
        #expect(try await balancer.stop().contains { $0.contains(#""requestId":"\#(id)""#) })
    }
}
