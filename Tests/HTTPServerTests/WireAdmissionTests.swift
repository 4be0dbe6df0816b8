import Locking
import EventLoop
import HTTPServer
import Loopback
import Testing

@Suite("Admission of requests on the wire", .timeLimit(.minutes(2)))
struct WireAdmissionTests {
    private static func post(_ path: String, _ fields: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n"
    }

    @Test("A server accepts a body of exactly the limit")
    func largestBody() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            let body = String(repeating: "x", count: 1 << 20)
            client.send(Self.post("/echo", "Content-Length: 1048576") + body)
            #expect(try client.receiveResponse().hasSuffix("\r\n\r\n" + body))
            client.close()
        }
    }

    @Test("A server counts a request as in flight while its body arrives")
    func uploadsAreInFlight() async throws {
        try await WireServer.run(inFlightLimit: 1) { server in
            let upload = try WireClient(port: server.port)
            upload.send(Self.post("/limited", "Content-Length: 2\r\nExpect: 100-continue"))
            // The server sends it once it has admitted the request.
            #expect(try upload.receiveResponse() == "HTTP/1.1 100 Continue\r\n\r\n")
            let other = try WireClient(port: server.port)
            other.send(WireRequest.gated)
            #expect(try other.receiveResponse().hasPrefix("HTTP/1.1 503 "))
            upload.send("ab")
            #expect(try upload.receiveResponse().hasSuffix("\r\n\r\nab"))
            upload.close()
            other.send(WireRequest.gated)
            await server.gate.arrivals()
            server.gate.open()
            #expect(try other.receiveResponse() == ExpectedResponse.gated)
            other.close()
        }
    }

    @Test("A server reserves a body's memory, responds with 503 if there isn't enough, and releases it")
    func bodyBudget() async throws {
        let budget = BodyBudget(limit: 1_000_000)
        try await WireServer.run(HTTPServerConfiguration(bodyBudget: budget)) { server in
            let first = try WireClient(port: server.port)
            first.send(Self.post("/echo", "Content-Length: 600000\r\nExpect: 100-continue"))
            #expect(try first.receiveResponse() == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(budget.reservedBytes == 600_000)
            for framing in ["Content-Length: 400001", "Transfer-Encoding: chunked"] {
                let second = try WireClient(port: server.port)
                second.send(Self.post("/echo", framing))
                let response = try second.receiveAll()
                #expect(response.hasPrefix("HTTP/1.1 503 "))
                #expect(response.contains("\r\nRetry-After: 1\r\n"))
            }
            let third = try WireClient(port: server.port)
            third.send(Self.post("/echo", "Content-Length: 3") + "abc")
            #expect(try third.receiveResponse().hasSuffix("\r\n\r\nabc"))
            third.close()
            first.send([UInt8](repeating: 97, count: 600_000))
            _ = try first.receiveResponse()
            first.close()
            #expect(budget.reservedBytes == 0)
        }
    }

    @Test("A server releases a body's memory when its client is gone or late")
    func bodyBudgetOfInterrupted() async throws {
        let budget = BodyBudget()
        let timeouts = HTTPTimeouts(body: .milliseconds(300))
        try await WireServer.run(HTTPServerConfiguration(timeouts: timeouts, bodyBudget: budget)) { server in
            let leaving = try WireClient(port: server.port)
            leaving.send(Self.post("/echo", "Content-Length: 1000\r\nExpect: 100-continue"))
            _ = try leaving.receiveResponse()
            leaving.reset()
            let late = try WireClient(port: server.port)
            late.send(Self.post("/echo", "Transfer-Encoding: chunked\r\nExpect: 100-continue"))
            _ = try late.receiveResponse()
            #expect(budget.reservedBytes >= 1 << 20)
            #expect(try late.receiveAll().hasPrefix("HTTP/1.1 408 "))
            try await server.closesConnections()
            #expect(budget.reservedBytes == 0)
        }
    }

    @Test("A server's observations name why a request was never complete")
    func interruptions() async throws {
        try await WireServer.run(HTTPServerConfiguration(timeouts: HTTPTimeouts(body: .milliseconds(50)))) {
            server in
            let late = try WireClient(port: server.port)
            late.send(Self.post("/echo", "Content-Length: 5") + "a")
            _ = try late.receiveAll()
            let leaving = try WireClient(port: server.port)
            leaving.send("GET /hello HT")
            leaving.finishSending()
            _ = try leaving.receiveAll()
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

    /// Lets a client have one connection.
    private final class OneEach: HTTPClientConnections {
        let open = Lock(0)

        func open(from remoteAddress: String?) -> Bool {
            open.withLock { open in
                guard remoteAddress == "127.0.0.1", open == 0 else { return false }
                open += 1
                return true
            }
        }

        func close(from remoteAddress: String?) {
            open.withLock { $0 -= 1 }
        }
    }

    @Test("A server refuses connections of a client above its limit, and accepts them again below it")
    func connectionsPerClient() async throws {
        let limit = OneEach()
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
            #expect(limit.open.withLock { $0 } == 0)
            let third = try WireClient(port: server.port)
            third.send(WireRequest.hello)
            #expect(try third.receiveResponse() == ExpectedResponse.hello)
            third.close()
        }
    }
}
