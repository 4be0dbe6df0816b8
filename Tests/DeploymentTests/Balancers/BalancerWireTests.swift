import Foundation
import Locking
import Loopback
import ServerProcess
import ServiceFixtures
import Testing
import WireCases

@Suite("The wire by the book, through a balancer", .timeLimit(.minutes(5)))
struct BalancerWireTests {
    /// What a client got that sent a row of the table over a connection of its own, and one more request behind it.
    private struct Exchange: Sendable {
        let wireCase: WireCase
        /// The path of that last request, which no other client asks for.
        let lastPath: String
        var responses: [BalancerResponse] = []

        init(_ index: Int, _ wireCase: WireCase) {
            self.wireCase = wireCase
            lastPath = "/last/\(index)"
        }

        /// The same of the service, whose only path that takes a body is `/events`: the body is read before it is refused.
        private static func asked(_ request: [UInt8]) -> [UInt8] {
            let post = Array("POST /a HTTP/1.1\r\n".utf8)
            let event = Array("POST /events HTTP/1.1\r\nContent-Type: application/json\r\n".utf8)
            return request.replacing(post, with: event)
        }

        mutating func perform(port: Int) throws {
            let client = try WireClient(port: port)
            client.send(
                Self.asked(wireCase.request)
                    + Array("GET \(lastPath) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8))
            var bytes: [UInt8] = []
            _ = try client.receive(toEndInto: &bytes)
            client.close()
            responses = try BalancerResponse.all(in: bytes)
        }
    }

    /// A request as the server has logged it.
    private struct LogEntry: Decodable {
        let event: String
        let requestId: String?
        let status: Int?
        let path: String?
    }

    /// What HAProxy asks a server for, and `Balancer` the balancer, to see whether it is ready; no row does.
    private static let ownPaths = ["/readyz", "/locations"]
    /// Clients at a time, more than wait for a balancer's time-out at once.
    private static let clients = 32

    @Test(
        "Every request that reaches a server has one response, and its client gets it, in the order of its requests",
        arguments: Balancer.Kind.allCases)
    func agrees(kind: Balancer.Kind) async throws {
        let fleet = try await ServerFleet(count: 1)
        let balancer = try await Balancer(kind, for: fleet, changes: Self.impatience(kind))
        let exchanges = try await Self.exchanges(port: balancer.port)
        try await fleet.finish()
        try await balancer.stop()
        let log = fleet.servers[0].program.output.lines
            .compactMap { try? JSONDecoder().decode(LogEntry.self, from: Data($0.text.utf8)) }
            .filter { $0.event == "request" && !Self.ownPaths.contains($0.path ?? "") }
        let count = exchanges.reduce(0) { $0 + $1.responses.count }
        print("\(kind): \(exchanges.count) rows, \(count) responses, \(log.count) requests in the log")
        Self.expectAgreement(exchanges, log)
    }

    /// Waits a second at most for the rest of a request, or for the next one.
    private static func impatience(_ kind: Balancer.Kind) -> [Balancer.Change] {
        switch kind {
        case .haproxy:
            [
                Balancer.Change(from: "timeout http-request 10s", to: "timeout http-request 1s"),
                Balancer.Change(from: "timeout client 30s", to: "timeout client 1s"),
                Balancer.Change(from: "timeout http-keep-alive 75s", to: "timeout http-keep-alive 1s"),
            ]
        case .nginx:
            [
                Balancer.Change(from: "client_header_timeout 10s", to: "client_header_timeout 1s"),
                Balancer.Change(from: "client_body_timeout 30s", to: "client_body_timeout 1s"),
                Balancer.Change(from: "keepalive_timeout 75s", to: "keepalive_timeout 1s"),
            ]
        }
    }

    /// Sends every row of the table.
    private static func exchanges(port: Int) async throws -> [Exchange] {
        let waiting = Lock(try WireTable.cases().enumerated().map { Exchange($0.offset, $0.element) })
        let done = Lock<[Exchange]>([])
        try await withThrowingTaskGroup { group in
            for _ in 0..<clients {
                group.addTask {
                    try await offPool {
                        while var exchange = waiting.withLock({ $0.popLast() }) {
                            try exchange.perform(port: port)
                            done.withLock { $0.append(exchange) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return done.withLock { $0 }
    }

    private static func expectAgreement(_ exchanges: [Exchange], _ log: [LogEntry]) {
        var open: [String: Int] = [:]
        for (position, entry) in log.enumerated() {
            let id = entry.requestId ?? ""
            #expect(open.updateValue(position, forKey: id) == nil, "\(id) is in the server's log twice")
        }
        for exchange in exchanges {
            // Nil for what the balancer has refused by itself.
            let positions = exchange.responses.map { response in
                response.requestID.flatMap { open.removeValue(forKey: $0) }
            }
            expectOrder(exchange, positions.map { position in position.map { ($0, log[$0]) } })
        }
        for position in open.values.sorted() {
            Issue.record("no client got the response to \(log[position])")
        }
    }

    /// - Parameter logged: for each response what the server has logged of it, and where.
    private static func expectOrder(_ exchange: Exchange, _ logged: [(position: Int, entry: LogEntry)?]) {
        let positions = logged.compactMap { $0?.position }
        #expect(positions == positions.sorted(), "out of order: \(exchange.wireCase)")
        for (response, logged) in zip(exchange.responses, logged) {
            guard let entry = logged?.entry else { continue }
            #expect(
                response.status == nil || response.status == entry.status,
                "another status: \(exchange.wireCase)"
            )
            let isLast = entry.path?.hasPrefix("/last/") == true
            #expect(!isLast || entry.path == exchange.lastPath, "another client's: \(exchange.wireCase)")
        }
    }
}

/// A final response as a client gets it from a balancer.
struct BalancerResponse: Sendable {
    /// Nil for a response without a head, with which nginx responds to HTTP/0.9.
    let status: Int?
    /// Nil for a balancer's own response to what it couldn't read.
    let requestID: String?

    /// The responses on a connection, from its start to its end, without interim ones.
    static func all(in bytes: [UInt8]) throws -> [BalancerResponse] {
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        var responses: [BalancerResponse] = []
        while !rest.isEmpty {
            guard let status = rest.prefixMatch(of: /HTTP\/1\.[01] ([0-9]{3})[ ]/).flatMap({ Int($0.1) })
            else {
                let id = rest.firstMatch(of: /"requestId":"([^"]+)"/).map { String($0.1) }
                responses.append(BalancerResponse(status: nil, requestID: id))
                break
            }
            guard let head = rest.firstRange(of: "\r\n\r\n") else { break }
            let fields = rest[..<head.lowerBound]
            rest = rest[head.upperBound...]
            guard status >= 200 else { continue }
            let id = fields.firstMatch(of: /(?i)\r\nX-Request-Id: ([A-Za-z0-9._-]+)/).map { String($0.1) }
            responses.append(BalancerResponse(status: status, requestID: id))
            // Not by its length, which a response to HEAD has without a body; no body looks like a status line.
            rest = rest.firstRange(of: /HTTP\/1\.[01] [0-9]{3}[ ]/).map { rest[$0.lowerBound...] } ?? ""
        }
        return responses
    }
}
