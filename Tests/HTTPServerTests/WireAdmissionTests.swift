import EventLoop
import HTTPServer
import Loopback
import Testing

@Suite("Admission of requests on the wire", .timeLimit(.minutes(2)))
struct WireAdmissionTests {
    private static func post(_ path: String, _ fields: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n"
    }

    @Test("A request with a body counts as in flight once its body is complete, not from its head on")
    func uploadsAreInFlight() async throws {
        let timeouts = HTTPTimeouts(body: .seconds(600))
        try await WireServer.run(HTTPServerConfiguration(timeouts: timeouts), inFlightLimit: 1) { server in
            let upload = try WireClient(port: server.port)
            upload.send(Self.post("/limited", "Content-Length: 2\r\nExpect: 100-continue"))
            // The server sends it once it has admitted the request.
            #expect(try upload.receiveResponse() == "HTTP/1.1 100 Continue\r\n\r\n")
            let other = try WireClient(port: server.port)
            other.send(WireRequest.gated)
            await server.gate.arrivals()
            // Now its body comes too late, and a further one is refused at its head.
            upload.send("ab")
            #expect(try upload.receiveResponse().hasPrefix("HTTP/1.1 503 "))
            upload.send(Self.post("/limited", "Content-Length: 2"))
            #expect(try upload.receiveAll().hasPrefix("HTTP/1.1 503 "))
            server.gate.open()
            #expect(try other.receiveResponse() == ExpectedResponse.gated)
            other.close()
        }
    }

    @Test("A server's observations name why a request was never complete")
    func interruptions() async throws {
        try await WireServer.run(HTTPServerConfiguration(timeouts: HTTPTimeouts(body: .milliseconds(50)))) {
            server in
            let late = try WireClient(port: server.port)
            late.send(Self.post("/echo", "Content-Length: 5") + "a")
            #expect(
                try late.receiveAll()
                    == ExpectedResponse.error("408 Request Timeout", "The body did not arrive in time."))
            let leaving = try WireClient(port: server.port)
            leaving.send("GET /hello HT")
            leaving.finishSending()
            #expect(
                try leaving.receiveAll()
                    == ExpectedResponse.error("400 Bad Request", "The connection ended inside the request."))
            let whole = try WireClient(port: server.port)
            whole.send(WireRequest.hello)
            _ = try whole.receiveResponse()
            whole.close()
            _ = try await server.connectionCount()
            let observed = server.observations.withLock { $0.map(\.interruption) }
            #expect(observed == [.timeout, .disconnected, nil])
            #expect(server.observations.withLock { $0[0].routeTemplate } == "/echo")
        }
    }

    @Test("A server resets and counts a connection whose descriptor is reserved for the process")
    func descriptorBound() async throws {
        var configuration = HTTPServerConfiguration()
        configuration.maximumDescriptor = 0
        try await WireServer.run(configuration) { server in
            for count in 1...2 {
                let client = try WireClient(port: server.port)
                #expect(try client.ending() == .reset)
                client.close()
                #expect(try await server.acceptFailureCount() == count)
            }
        }
    }

    @Test("A server refuses connections of a client above its limit, and accepts them again below it")
    func connectionsPerClient() async throws {
        let limit = ClientConnections(limit: 1)
        try await WireServer.run(
            HTTPServerConfiguration(connectionsPerClient: limit, retryAfterSeconds: 3)
        ) { server in
            let first = try WireClient(port: server.port)
            first.send(WireRequest.hello)
            #expect(try first.receiveResponse() == ExpectedResponse.hello)
            let second = try WireClient(port: server.port)
            #expect(
                try second.receiveAll()
                    == ExpectedResponse.error(
                        "429 Too Many Requests", "This client has as many connections as it may.",
                        fields: "Retry-After: 3\r\n"))
            first.close()
            try await server.closesConnections()
            let third = try WireClient(port: server.port)
            third.send(WireRequest.hello)
            #expect(try third.receiveResponse() == ExpectedResponse.hello)
            third.close()
        }
    }
}
