import Locking
import EventLoop
import HTTPServer
import Loopback
import Testing

@Suite("Shutdown on the wire", .timeLimit(.minutes(1)))
struct WireShutdownTests {
    /// A connection that has got one response and is kept.
    private func keptConnection(to server: WireServer) throws -> WireClient {
        let client = try WireClient(port: server.port)
        client.send(WireRequest.hello)
        #expect(try client.receiveResponse() == ExpectedResponse.hello)
        return client
    }

    @Test("A shutdown closes idle connections at once, and others after their response")
    func graceful() async throws {
        try await WireServer.run { server in
            let idle = try keptConnection(to: server)
            let busy = try WireClient(port: server.port)
            busy.send(WireRequest.gated + WireRequest.hello)
            await server.gate.arrivals()

            try await server.beginShutdown()
            #expect(try idle.receiveAll() == "", "closed without a word")
            #expect(throws: (any Error).self) { try WireClient(port: server.port) }
            server.gate.open()
            #expect(
                try busy.receiveAll() == ExpectedResponse.text("200 OK", "gated", connection: "close"))
            await server.shutdown(timeout: .seconds(60))
            #expect(try await server.connectionCount() == 0)
        }
    }

    @Test("A shutdown cuts off connections without a response at the deadline")
    func hardEnd() async throws {
        try await WireServer.run { server in
            let busy = try WireClient(port: server.port)
            busy.send(WireRequest.gated)
            await server.gate.arrivals()
            await server.shutdown(timeout: .milliseconds(20))
            #expect(try await server.connectionCount() == 0)
            #expect(try busy.receiveAll() == "")
            server.gate.open()
            await server.returned.arrivals()
            #expect(server.wasCancelled.withLock { $0 })
        }
    }

    @Test("A received but unread request on a kept connection gets its response during a shutdown")
    func unreadRequest() async throws {
        try await WireServer.run { server in
            let client = try keptConnection(to: server)
            try await server.beginShutdown { client.send(WireRequest.hello) }
            #expect(try client.receiveAll() == ExpectedResponse.lastHello)
            await server.shutdown(timeout: .seconds(60))
        }
    }

    @Test("A queued connection is accepted and gets its response during a shutdown")
    func unacceptedConnection() async throws {
        try await WireServer.run { server in
            let clients = Lock<[WireClient]>([])
            try await server.beginShutdown {
                for _ in 0..<20 {
                    let client = try WireClient(port: server.port)
                    client.send(WireRequest.hello)
                    clients.withLock { $0.append(client) }
                }
            }
            for client in clients.withLock({ $0 }) {
                #expect(try client.receiveAll() == ExpectedResponse.lastHello)
            }
            await server.shutdown(timeout: .seconds(60))
        }
    }

    @Test("A new connection may send its first request during a shutdown, and is closed if it doesn't")
    func newConnections() async throws {
        var configuration = HTTPServerConfiguration()
        configuration.timeouts.lastRequest = .milliseconds(20)
        try await WireServer.run(configuration) { server in
            let silent = try await connectBeforeShutdown(of: server)
            #expect(try silent.receiveAll() == "")
            await server.shutdown(timeout: .seconds(60))
        }
        configuration.timeouts.lastRequest = .seconds(3600)
        try await WireServer.run(configuration) { server in
            let client = try await connectBeforeShutdown(of: server)
            client.send(WireRequest.hello)
            #expect(try client.receiveAll() == ExpectedResponse.lastHello)
            await server.shutdown(timeout: .seconds(60))
        }
    }

    private func connectBeforeShutdown(of server: WireServer) async throws -> WireClient {
        let client = Lock<WireClient?>(nil)
        try await server.beginShutdown {
            let new = try WireClient(port: server.port)
            client.withLock { $0 = new }
        }
        return try #require(client.withLock { $0 })
    }

    @Test("A request that crosses the close of an idle connection sees an orderly end, not a reset")
    func crossingRequest() async throws {
        var configuration = HTTPServerConfiguration()
        configuration.timeouts.linger = .seconds(3600)
        try await WireServer.run(configuration) { server in
            let client = try keptConnection(to: server)
            try await server.beginShutdown()
            #expect(try client.receiveSome() == [])
            client.send(WireRequest.hello)
            #expect(try await server.connectionCount() == 1)
            #expect(try client.ending() == .end)
            client.close()
            await server.shutdown(timeout: .seconds(60))
        }
    }
}
