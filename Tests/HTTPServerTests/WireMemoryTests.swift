import EventLoop
import Loopback
import Testing

@testable import HTTPServer

/// What clients can make a server keep.
@Suite("Memory that clients take", .timeLimit(.minutes(2)))
struct WireMemoryTests {
    private static func post(_ fields: String, from client: String = "192.0.2.1") -> String {
        "POST /echo HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: \(client)\r\n\(fields)\r\n\r\n"
    }

    /// A server behind a trusted proxy, which the test is, so that it has many clients.
    private static func configuration(_ memory: ClientMemory) throws -> HTTPServerConfiguration {
        let proxies = [try #require(AddressRange(settingText: "127.0.0.0/8"))]
        return HTTPServerConfiguration(
            memory: memory, clients: ClientIdentification(trustedProxies: proxies))
    }

    private static func wait(until isTrue: () -> Bool) async throws {
        while !isTrue() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("A head that announces a body takes no memory, so that other bodies are accepted")
    func announcedBodies() async throws {
        let memory = ClientMemory(limit: 4_000_000)
        try await WireServer.run(try Self.configuration(memory)) { server in
            let announcing = try (0..<32).map { _ in
                let client = try WireClient(port: server.port)
                client.send(Self.post("Content-Length: 1048576\r\nExpect: 100-continue"))
                #expect(try client.receiveResponse() == "HTTP/1.1 100 Continue\r\n\r\n")
                return client
            }
            #expect(memory.heldBytes == 0)
            let other = try WireClient(port: server.port)
            other.send(Self.post("Content-Length: 3") + "abc")
            #expect(try other.receiveResponse().hasSuffix("\r\n\r\nabc"))
            for client in announcing + [other] { client.close() }
        }
    }

    @Test("A body takes memory as it arrives, up to a client's quarter of the limit, and gives it back")
    func shares() async throws {
        let memory = ClientMemory(limit: 400_000)
        try await WireServer.run(try Self.configuration(memory)) { server in
            func upload(_ fields: String, from address: String) throws -> WireClient {
                let client = try WireClient(port: server.port)
                client.send(Self.post(fields, from: address))
                return client
            }
            let block = [UInt8](repeating: 97, count: 60_000)
            let first = try upload("Content-Length: 65000", from: "192.0.2.1")
            first.send(block)
            try await Self.wait { memory.heldBytes == 60_000 }
            for framing in ["Content-Length: 65000", "Transfer-Encoding: chunked"] {
                let second = try upload(framing, from: "192.0.2.1")
                if framing.hasPrefix("T") { second.send("FFFF\r\n") }
                second.send(block)
                let response = try second.receiveAll()
                #expect(response.hasPrefix("HTTP/1.1 503 "), "\(framing)")
                #expect(response.contains("\r\nRetry-After: 1\r\n"))
            }
            let third = try upload("Content-Length: 60000", from: "192.0.2.2")
            third.send(block)
            _ = try third.receiveResponse()
            third.close()
            #expect(memory.heldBytes == 60_000)
            first.send([UInt8](repeating: 97, count: 5000))
            _ = try first.receiveResponse()
            try await Self.wait { memory.heldBytes == 0 }
            // One that leaves.
            first.send(Self.post("Content-Length: 65000"))
            first.send(block)
            try await Self.wait { memory.heldBytes == 60_000 }
            first.reset()
            try await Self.wait { memory.heldBytes == 0 }
        }
    }

    @Test("An unfinished head is held, and is refused where there is no memory")
    func unfinishedHead() async throws {
        let memory = ClientMemory(limit: 4000)
        try await WireServer.run(HTTPServerConfiguration(memory: memory)) { server in
            let first = try WireClient(port: server.port)
            first.send("GET /now HTTP/1.1\r\nX: " + String(repeating: "a", count: 900))
            try await Self.wait { memory.heldBytes > 900 }
            let second = try WireClient(port: server.port)
            second.send("GET /now HTTP/1.1\r\nX: " + String(repeating: "a", count: 900))
            #expect(try second.receiveAll().hasPrefix("HTTP/1.1 503 "))
            first.send("\r\nHost: h\r\n\r\n")
            #expect(try first.receiveResponse().hasSuffix("now"))
            try await Self.wait { memory.heldBytes == 0 }
            first.close()
        }
    }

    @Test("A trusted proxy, which has many clients, may hold more than a client's share for unfinished heads")
    func unfinishedHeadsOfProxy() async throws {
        let memory = ClientMemory(limit: 4000)
        try await WireServer.run(try Self.configuration(memory)) { server in
            let connections = try (0..<3).map { _ in try WireClient(port: server.port) }
            for connection in connections {
                connection.send("GET /now HTTP/1.1\r\nX: " + String(repeating: "a", count: 900))
            }
            try await Self.wait {
                memory.heldBytes > 3 * 900 || server.observations.withLock { !$0.isEmpty }
            }
            for connection in connections { connection.send("\r\nHost: h\r\n\r\n") }
            for connection in connections {
                #expect(try connection.receiveResponse().hasSuffix("now"))
                connection.close()
            }
        }
    }

    @Test("Of many requests that wait behind another, a few are read at a time, and all get their responses")
    func pipeline() async throws {
        let memory = ClientMemory()
        try await WireServer.run(HTTPServerConfiguration(memory: memory)) { server in
            let client = try WireClient(port: server.port)
            let count = 40_000
            try await offPool {
                client.send(WireRequest.gated)
                client.send(String(repeating: "GET /now HTTP/1.1\r\nHost: h\r\n\r\n", count: 3000))
            }
            await server.gate.arrivals()
            // Until reading stops.
            try await Self.wait { memory.heldBytes > HTTPLimits().pipelineBytes }
            #expect(memory.heldBytes <= 32 * 1024)
            async let rest: Void = offPool {
                client.send(
                    String(repeating: "GET /now HTTP/1.1\r\nHost: h\r\n\r\n", count: count - 3000))
            }
            server.gate.open()
            try await offPool { () throws in
                #expect(try client.receiveResponse() == ExpectedResponse.gated)
                var right = 0
                for _ in 0..<count where try client.receiveMessage().body == Array("now".utf8) { right += 1 }
                #expect(right == count)
            }
            try await rest
            try await Self.wait { memory.heldBytes == 0 }
            client.close()
        }
    }

    @Test("If there is no memory for requests that wait, the one in flight is the connection's last")
    func refusedPipeline() async throws {
        let memory = ClientMemory(limit: 4000)
        try await WireServer.run(HTTPServerConfiguration(memory: memory)) { server in
            let client = try WireClient(port: server.port)
            client.send(WireRequest.gated + String(repeating: WireRequest.hello, count: 100))
            await server.gate.arrivals()
            try await server.withoutLooking {}
            #expect(memory.heldBytes == 0)
            server.gate.open()
            let responses = try client.receiveAll()
            #expect(responses.contains("\r\nConnection: close\r\n"))
            #expect(responses.hasSuffix("\r\n\r\ngated"))
            #expect(server.calls.withLock { $0 } == 0)
        }
    }

    @Test("A client that doesn't read its responses is reset once they take more than its share of memory")
    func untakenResponses() async throws {
        let memory = ClientMemory(limit: 4 << 20)
        try await WireServer.run(HTTPServerConfiguration(memory: memory)) { server in
            let client = try WireClient(port: server.port, receiveBuffer: 4096)
            client.send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try client.ending() == .reset)
            try await server.closesConnections()
            #expect(memory.heldBytes == 0)
        }
    }

    @Test("A client may hold its share, and all together may hold the limit")
    func counts() {
        let memory = ClientMemory(limit: 1000)
        let clients = (1...5).map { IPAddress(high: UInt64($0), low: 0) }
        #expect(!memory.hold(251, for: clients[0]))
        for client in clients.prefix(4) { #expect(memory.hold(250, for: client)) }
        #expect(!memory.hold(1, for: clients[0]))
        #expect(!memory.hold(1, for: clients[4]))
        #expect(!memory.hold(1, for: nil))
        memory.release(100, for: clients[0])
        #expect(memory.hold(60, for: nil))
        #expect(!memory.hold(41, for: clients[0]))
        #expect(memory.hold(40, for: clients[0]))
        #expect(memory.heldBytes == 1000)
    }

    @Test("A request that should wait for its turn is served at once if there is no memory for it")
    func turnsWithoutMemory() async throws {
        let memory = ClientMemory(limit: 40)
        try await WireServer.run(HTTPServerConfiguration(memory: memory)) { server in
            let clients = try (0..<5).map { _ in try WireClient(port: server.port) }
            _ = try await server.connectionCount()
            try await server.withoutLooking {
                for client in clients { client.send("GET /busy HTTP/1.1\r\nHost: h\r\n\r\n") }
            }
            for client in clients {
                #expect(try client.receiveResponse().hasSuffix("busy"))
                client.close()
            }
        }
    }

    @Test("A client whose requests keep the loop busy lets other clients' requests go first")
    func turns() async throws {
        try await WireServer.run { server in
            let busy = try (0..<40).map { _ in try WireClient(port: server.port, source: 2) }
            let other = try WireClient(port: server.port, source: 3)
            _ = try await server.connectionCount()
            try await server.withoutLooking {
                for client in busy { client.send("GET /busy HTTP/1.1\r\nHost: h\r\n\r\n") }
                other.send("GET /busy HTTP/1.1\r\nHost: h\r\n\r\n")
            }
            for client in busy + [other] {
                #expect(try client.receiveResponse().hasSuffix("busy"))
                client.close()
            }
            let order = server.observations.withLock { $0.map(\.remoteAddress) }
            let place = try #require(order.firstIndex(of: "127.0.0.3"))
            // Each takes longer than a client has of a turn.
            #expect(place <= 3, "\(order)")
        }
    }
}
