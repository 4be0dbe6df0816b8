import Foundation
import Loopback
import PointsOfInterestClient
import ServerProcess
import ServiceFixtures
import Testing

@Suite("A balancer's own responses", .timeLimit(.minutes(5)))
struct BalancerResponseTests {
    /// A problem as a file of the configuration has it, with the status that the balancer sends it under.
    struct Shipped: Sendable, CustomTestStringConvertible {
        let status: Int
        let json: String
        /// What stands for the request's id.
        let requestID: String

        var testDescription: String { "\(status) \(requestID)" }
    }

    @Test(
        "A balancer's problems have the contract's codes and titles, in every file that is shipped",
        arguments: try shipped())
    func matchesContract(shipped: Shipped) throws {
        let problem = try JSONDecoder().decode(Problem.self, from: Data(shipped.json.utf8))
        #expect(problem.detail?.isEmpty == false)
        #expect(problem == Problem(problem.code, detail: problem.detail, requestId: shipped.requestID))
        #expect(problem.status == shipped.status)
        #expect(problem.code == expectedCode(shipped.status))
    }

    /// A balancer has no server, where the service itself would be overloaded.
    private func expectedCode(_ status: Int) -> ProblemCode {
        status == 503 ? .notReady : ProblemCode(status: status)
    }

    private static func shipped() throws -> [Shipped] {
        let errors = Balancer.shipped(.haproxy).appending(path: "errors", directoryHint: .isDirectory)
        let files = try FileManager.default.contentsOfDirectory(at: errors, includingPropertiesForKeys: nil)
        let haproxy = try files.map { file in
            Shipped(
                status: try #require(Int(file.deletingPathExtension().lastPathComponent)),
                json: try String(contentsOf: file, encoding: .utf8), requestID: "%[var(txn.request_id)]")
        }
        let configuration = try String(
            contentsOf: Balancer.shipped(.nginx).appending(path: "errors.conf"), encoding: .utf8)
        let nginx = try configuration.matches(of: /return (\d+) '(\{.*\})';/).map { match in
            Shipped(
                status: try #require(Int(match.output.1)),
                json: match.output.2.replacingOccurrences(of: #"\'"#, with: "'"), requestID: "$poi_request_id"
            )
        }
        try #require(haproxy.count == 6 && nginx.count == 10)
        return haproxy + nginx
    }

    @Test(
        "A balancer responds with a problem, with the request's id, if there is no server",
        arguments: Balancer.Kind.allCases)
    func noServer(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 1)
        let balancer = try await Balancer(kind, for: fleet)
        try await fleet.finish()
        // HAProxy may have to see that the server is gone before it says so.
        var response = try await balancer.ask(secretTarget, id: "mine-1")
        while kind == .haproxy && response.status != 503 {
            response = try await balancer.ask(secretTarget, id: "mine-1")
        }
        let code = kind == .haproxy ? ProblemCode.notReady : .badGateway
        let problem = try #require(response.problem)
        #expect(problem == Problem(code, detail: problem.detail, requestId: "mine-1"))
        #expect(response.status == problem.status)
        #expect(response.headers["x-request-id"] == "mine-1")
        #expect(response.headers["cache-control"] == "no-store")
        #expect(response.headers["retry-after"] == (kind == .haproxy ? "1" : nil))
        // An id that isn't one is replaced, as the servers do.
        let other = try await balancer.ask(secretTarget, id: "not an id")
        let id = try #require(other.headers["x-request-id"])
        #expect(id.wholeMatch(of: /[A-Za-z0-9._-]{1,128}/) != nil)
        #expect(other.problem?.requestId == id)
        try await balancer.stop()
    }

    @Test("A balancer responds with 504 if a server hangs", arguments: Balancer.Kind.allCases)
    func hangingServer(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 1)
        // Less than it takes HAProxy to see that the server is gone: the request in flight then has its response.
        let change =
            switch kind {
            case .haproxy: Balancer.Change(from: "set-timeout server 4s", to: "set-timeout server 200ms")
            case .nginx:
                Balancer.Change(from: "proxy_read_timeout 4s", to: "proxy_read_timeout 300ms")
            }
        let balancer = try await Balancer(kind, for: fleet, changes: [change])
        fleet.servers[0].program.send(signal: SIGSTOP)
        let response = try await balancer.ask(secretTarget, id: "mine-2")
        fleet.servers[0].program.send(signal: SIGCONT)
        #expect(response.status == 504)
        let problem = try #require(response.problem)
        #expect(problem == Problem(.gatewayTimeout, detail: problem.detail, requestId: "mine-2"))
        try await balancer.stop()
        try await fleet.finish()
    }

    @Test(
        "A request that only reads goes to another server if one is frozen", arguments: Balancer.Kind.allCases
    )
    func frozenServer(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 2)
        let balancer = try await Balancer(kind, for: fleet)
        fleet.servers[0].program.send(signal: SIGSTOP)
        // So many at once that each server gets some of them.
        let statuses = try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { try await get(secretTarget, port: balancer.port).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        fleet.servers[0].program.send(signal: SIGCONT)
        #expect(statuses == Array(repeating: 200, count: 8))
        let sentAgain = kind == .haproxy ? /"retries":"\+?[1-9]/ : /"serverStatus":"504, 200"/
        #expect(try await balancer.stop().contains { $0.contains(sentAgain) })
        try await fleet.finish()
    }

    @Test("A request that nginx refuses gets a problem")
    func refusals() async throws {
        let fleet = try await ServerFleet(count: 1)
        let balancer = try await Balancer(.nginx, for: fleet)
        let long = String(repeating: "x", count: 20_000)
        let requests: [(String, ProblemCode)] = [
            ("GET / HTTP/1.1\r\n\r\n", .badRequest),
            ("nonsense\r\n\r\n", .badRequest),
            ("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", .methodNotAllowed),
            ("GET /?\(long) HTTP/1.1\r\nHost: a\r\n\r\n", .uriTooLong),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n", .headersTooLarge),
            ("POST /events HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n", .contentTooLarge),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", .notImplemented),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", .httpVersionNotSupported),
        ]
        for (request, code) in requests {
            let response = try await balancer.exchange(request)
            let problem = try #require(response.problem, "\(code.rawValue): \(response)")
            #expect(problem == Problem(code, detail: problem.detail, requestId: problem.requestId))
            #expect(response.status == problem.status)
            #expect(response.headers["x-request-id"] == problem.requestId)
            #expect(response.headers["allow"] == (code == .methodNotAllowed ? "GET, HEAD, OPTIONS" : nil))
        }
        try await balancer.stop()
        try await fleet.finish()
    }

    @Test("A balancer passes on every response of a server", arguments: Balancer.Kind.allCases)
    func passesResponses(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 1)
        let balancer = try await Balancer(kind, for: fleet)
        let longQuery = String(repeating: "x", count: 9000)
        let manyFields = (1...20).map { "X-\($0): \(String(repeating: "y", count: 1000))\r\n" }.joined()
        let requests: [(String, Int, ProblemCode?)] = [
            ("GET \(secretTarget) HTTP/1.1\r\nHost: a\r\n\r\n", 200, nil),
            ("GET \(secretTarget) HTTP/1.0\r\n\r\n", 200, nil),
            ("GET \(secretTarget) HTTP/1.0\r\nHost: a\r\n\r\n", 200, nil),
            ("GET /locations HTTP/1.1\r\nHost: a\r\n\r\n", 400, .missingParameter),
            ("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n", 404, .unknownPath),
            ("DELETE /locations HTTP/1.1\r\nHost: a\r\n\r\n", 405, .methodNotAllowed),
            ("GET /?\(longQuery) HTTP/1.1\r\nHost: a\r\n\r\n", 414, .uriTooLong),
            ("GET / HTTP/1.1\r\nHost: a\r\n\(manyFields)\r\n", 431, .headersTooLarge),
        ]
        for (request, status, code) in requests {
            let response = try await balancer.exchange(request)
            #expect(response.status == status)
            #expect(response.problem?.code == code)
            #expect(response.headers["vary"]?.hasPrefix("Accept, Accept-Encoding") == true)
        }
        let cacheControl = try await get(secretTarget, port: balancer.port).headers["cache-control"]
        #expect(cacheControl == "private, max-age=60")
        try await balancer.stop()
        try await fleet.finish()
    }

    @Test(
        "A problem of a balancer comes by IPv6 as by IPv4, as it is shipped",
        arguments: Balancer.Kind.allCases)
    func servesBothKinds(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 1)
        let balancer = try await Balancer(kind, for: fleet, takesIPv6: true)
        for isIPv6 in [true, false] {
            let response = try await offPool { [port = balancer.port] in
                let connection = try WireClient(port: port, isIPv6: isIPv6)
                connection.sendGet(secretTarget)
                return try connection.receiveResponse()
            }
            #expect(response.status == 200)
        }
        let clients = try await balancer.stop().compactMap {
            $0.firstMatch(of: /"client":"([^"]+)"/)?.output.1
        }
        #expect(Set(clients).isSuperset(of: ["::1"]))
        try await fleet.finish()
    }
}

extension Balancer {
    /// Sends a request as it is, on a connection of its own.
    func exchange(_ request: String) async throws -> WireResponse {
        try await offPool { [port] in
            let connection = try WireClient(port: port)
            connection.send(request)
            return try connection.receiveResponse()
        }
    }

    /// Asks with an `X-Request-Id`.
    fileprivate func ask(_ target: String, id: String) async throws -> WireResponse {
        try await exchange("GET \(target) HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: \(id)\r\n\r\n")
    }
}

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
        // HAProxy passes the server's 100 on; nginx responds with one itself.
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
        // A balancer has several workers, so lines may come in another order than requests.
        let objects = try entries.map { entry in
            try #require(try JSONSerialization.jsonObject(with: Data(entry.utf8)) as? [String: Any])
        }
        let paths = objects.filter { $0["requestId"] as? String == id }.compactMap { $0["path"] as? String }
        let expected = lengths.map { kind == .haproxy ? min($0 + 1, 4096) : $0 + 1 }
        #expect(paths.map(\.count).sorted() == expected.sorted())
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
