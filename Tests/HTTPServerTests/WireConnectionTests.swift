import Loopback
import EventLoop
import HTTPServer
import Testing

@Suite("Connections on the wire", .timeLimit(.minutes(2)))
struct WireConnectionTests {
    @Test("A server responds to pipelined requests in order, also if the first one is slow")
    func pipelining() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(WireRequest.gated + WireRequest.hello + "GET /items/7 HTTP/1.1\r\nHost: h\r\n\r\n")
            await server.gate.arrivals()
            #expect(server.calls.withLock { $0 } == 0, "one request at a time")
            server.gate.open()
            #expect(try client.receiveResponse() == ExpectedResponse.gated)
            #expect(try client.receiveResponse() == ExpectedResponse.hello)
            #expect(try client.receiveResponse() == ExpectedResponse.text("200 OK", "7"))
            client.close()
        }
    }

    @Test("Clients that pipeline many requests don't hold up the request of another one")
    func fairPipelining() async throws {
        try await WireServer.run { server in
            let pipelining = try (0..<10).map { _ in try WireClient(port: server.port) }
            // Another client, by its address: requests of the same one wait for each other once it has used its turn.
            let other = try WireClient(port: server.port, source: 3)
            for client in pipelining + [other] {
                client.send(WireRequest.now)
                #expect(try client.receiveResponse() == ExpectedResponse.now)
            }
            let observations = server.observations
            try await server.withoutLooking {
                // Here, since a request is observed after its response was sent.
                observations.withLock { $0 = [] }
                for client in pipelining { client.send(String(repeating: WireRequest.now, count: 500)) }
                other.send("GET /now/7 HTTP/1.1\r\nHost: h\r\n\r\n")
            }
            _ = try other.receiveResponse()
            for client in pipelining {
                for _ in 0..<500 { #expect(try client.receiveResponse() == ExpectedResponse.now) }
            }
            _ = try await server.connectionCount()
            let paths = observations.withLock { $0.map(\.path) }
            let before = try #require(paths.firstIndex(of: "/now/7"))
            // Each of the others may be read once before it.
            #expect(before <= HTTPLimits().requestsInARow * pipelining.count)
            #expect(paths.count == 5001)
            for client in pipelining + [other] { client.close() }
        }
    }

    @Test("Immediate and later responses are sent in the order of their requests")
    func immediateResponses() async throws {
        let requests = WireRequest.now + WireRequest.hello + WireRequest.now + WireRequest.now
        let expected =
            ExpectedResponse.now + ExpectedResponse.hello + ExpectedResponse.now + ExpectedResponse.now
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            for byte in requests { client.send(String(byte)) }
            client.send(String(repeating: requests, count: 200))
            client.finishSending()
            #expect(try client.receiveAll() == String(repeating: expected, count: 201))
        }
    }

    @Test("A request has nothing of the previous one on its connection")
    func separateRequests() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            let trace = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n"
            client.send("GET /now/7?x HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine\r\n\(trace)\r\n")
            #expect(
                try client.receiveResponse()
                    == ExpectedResponse.text("200 OK", "noted", fields: "X-Note: noted\r\n", id: "mine"))
            client.send(WireRequest.now)
            #expect(try client.receiveResponse() == ExpectedResponse.now)
            client.send("GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try client.receiveResponse().hasPrefix("HTTP/1.1 404 "))
            client.send("junk\r\n\r\n")
            #expect(try client.receiveAll().hasPrefix("HTTP/1.1 400 "))
            let seen = server.observations.withLock { $0 }
            #expect(seen.map(\.path) == ["/now/7", "/now", "/nowhere", nil])
            #expect(seen.map(\.routeTemplate) == ["/now/{id}", "/now", nil, nil])
            #expect(seen.map(\.logNotes.count) == [1, 0, 0, 0])
            #expect(seen.map { $0.traceParent != nil } == [true, false, false, false])
            #expect(seen.map { $0.requestID == "mine" } == [true, false, false, false])
            #expect(seen.map(\.method) == [.get, .get, .get, nil])
            #expect(seen.map(\.status) == [.ok, .ok, .notFound, .badRequest])
            #expect(seen.allSatisfy { $0.remoteAddress == "127.0.0.1" })
        }
    }

    @Test("A server responds to the requests before a client's half-close, then closes")
    func halfClose() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(WireRequest.gated + WireRequest.hello)
            client.finishSending()
            #expect(try client.receiveResponse() == "HTTP/1.1 102 Processing\r\n\r\n")
            server.gate.open()
            #expect(try client.receiveAll() == ExpectedResponse.gated + ExpectedResponse.hello)
        }
    }

    @Test("A server sends a half-closed client of HTTP/1.0 no interim response")
    func oldHalfClose() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send("GET /gated HTTP/1.0\r\n\r\n")
            client.finishSending()
            await server.gate.arrivals()
            server.gate.open()
            #expect(
                try client.receiveAll() == ExpectedResponse.text("200 OK", "gated", connection: "close"))
        }
    }

    /// How a client leaves: a close is what an app does that gives up, a reset what a crash may look like.
    enum Departure: CaseIterable {
        case close
        case reset
        case halfCloseThenClose
    }

    @Test(
        "A server cancels the request of a client that is gone, and observes no status",
        arguments: Departure.allCases)
    func departed(departure: Departure) async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(WireRequest.gated)
            await server.gate.arrivals()
            switch departure {
            case .close: client.close()
            case .reset: client.reset()
            case .halfCloseThenClose:
                client.finishSending()
                #expect(try client.receiveResponse() == "HTTP/1.1 102 Processing\r\n\r\n")
                client.reset()
            }
            try await server.closesConnections()
            server.gate.open()
            await server.returned.arrivals()
            // The handler's job ends before the loop does anything else.
            _ = try await server.connectionCount()
            #expect(server.wasCancelled.withLock { $0 })
            #expect(server.observations.withLock { $0.map(\.status) } == [nil])
        }
    }

    @Test("A server refuses connections above its capacity, and accepts them again below it")
    func capacity() async throws {
        try await WireServer.run(HTTPServerConfiguration(maximumConnections: 1, retryAfterSeconds: 3)) {
            server in
            let first = try WireClient(port: server.port)
            first.send(WireRequest.hello)
            #expect(try first.receiveResponse() == ExpectedResponse.hello)
            let second = try WireClient(port: server.port)
            second.send(WireRequest.hello)
            #expect(
                try second.receiveAll()
                    == ExpectedResponse.error(
                        "503 Service Unavailable", "The server is at its limit.", fields: "Retry-After: 3\r\n"
                    ))
            first.close()
            try await server.closesConnections()
            let third = try WireClient(port: server.port)
            third.send(WireRequest.hello)
            #expect(try third.receiveResponse() == ExpectedResponse.hello)
            third.close()
        }
    }
}
