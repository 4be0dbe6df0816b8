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
            case .haproxy: Balancer.Change(from: "timeout server 15s", to: "timeout server 300ms")
            case .nginx:
                Balancer.Change(from: "proxy_read_timeout 10s", to: "proxy_read_timeout 300ms")
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
