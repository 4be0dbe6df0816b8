import EventLoop
import HTTPServer
import Loopback
import Testing

@Suite("On the wire, a server", .timeLimit(.minutes(2)))
struct WireTests {
    static let hello = "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n"
    static let gated = "GET /gated HTTP/1.1\r\nHost: h\r\n\r\n"

    private func expectOnlyAnswer(
        to request: String, _ expected: String, isHead: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(request)
            #expect(try client.receiveResponse(isHead: isHead) == expected, sourceLocation: sourceLocation)
            // The connection goes on.
            client.send("GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(try client.receiveAll() == ExpectedResponse.lastHello, sourceLocation: sourceLocation)
        }
    }

    @Test("answers a request and keeps the connection")
    func keepAlive() async throws {
        try await expectOnlyAnswer(to: Self.hello, ExpectedResponse.hello)
    }

    @Test("answers a request that arrives byte by byte")
    func byteByByte() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            for byte in Self.hello.utf8 { client.send([byte]) }
            #expect(try client.receiveResponse() == ExpectedResponse.hello)
            client.close()
        }
    }

    @Test("tells HEAD the length of what GET would answer")
    func head() async throws {
        try await expectOnlyAnswer(
            to: "HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n",
            ExpectedResponse.text("200 OK", "hello", isHead: true), isHead: true)
    }

    @Test("sends neither body nor length with 204")
    func noContent() async throws {
        try await expectOnlyAnswer(
            to: "GET /empty HTTP/1.1\r\nHost: h\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nDate: <date>\r\nX-Request-Id: <id>\r\n\r\n")
    }

    @Test("sends neither body nor length with 304")
    func notModified() async throws {
        try await expectOnlyAnswer(
            to: "GET /unchanged HTTP/1.1\r\nHost: h\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nDate: <date>\r\nETag: \"1\"\r\nX-Request-Id: <id>\r\n\r\n")
    }

    @Test("answers 404 and keeps the connection")
    func notFound() async throws {
        try await expectOnlyAnswer(
            to: "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n",
            ExpectedResponse.text("404 Not Found", "There is nothing at this path.\n"))
    }

    @Test("answers 405 with what is allowed")
    func methodNotAllowed() async throws {
        try await expectOnlyAnswer(
            to: "DELETE /hello HTTP/1.1\r\nHost: h\r\n\r\n",
            ExpectedResponse.text(
                "405 Method Not Allowed", "This path does not have this method.\n",
                fields: "Allow: GET, HEAD, OPTIONS\r\n"))
    }

    @Test("shows nothing of a handler's error")
    func handlerFails() async throws {
        try await expectOnlyAnswer(
            to: "GET /fails HTTP/1.1\r\nHost: h\r\n\r\n",
            ExpectedResponse.text("500 Internal Server Error", "The server could not answer this request.\n"))
    }

    @Test("lets no handler split its answer, and closes where a handler asks for it")
    func handlerCloses() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send("GET /closes HTTP/1.1\r\nHost: h\r\n\r\n" + Self.hello)
            #expect(
                try client.receiveAll()
                    == "HTTP/1.1 200 OK\r\nDate: <date>\r\nX-Split: a  b: c \r\nContent-Length: 1\r\n"
                    + "X-Request-Id: <id>\r\nConnection: close\r\n\r\n!")
            #expect(server.calls.withLock { $0 } == 0, "the request behind the last answer is not served")
        }
    }

    @Test("echoes a request id that is sane, and makes one for any other")
    func requestIDs() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            func answer(_ id: String) throws -> String {
                client.send("GET /hello HTTP/1.1\r\nHost: h\r\nX-Request-Id: \(id)\r\n\r\n")
                return try client.receiveResponse()
            }
            #expect(try answer("My_id.1-2") == ExpectedResponse.text("200 OK", "hello", id: "My_id.1-2"))
            for insane in ["", "a b", "a\"b", String(repeating: "a", count: 129)] {
                #expect(try answer(insane) == ExpectedResponse.hello)
            }
            client.close()
        }
    }

    @Test("speaks HTTP/1.0: closes, unless asked to keep the connection")
    func http10() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(
                try client.receiveResponse()
                    == ExpectedResponse.text("200 OK", "hello", connection: "keep-alive"))
            client.send("GET /hello HTTP/1.0\r\n\r\n")
            #expect(try client.receiveAll() == ExpectedResponse.lastHello)
        }
    }

    @Test("takes bodies by length and in chunks")
    func bodies() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            let expected =
                "HTTP/1.1 200 OK\r\nDate: <date>\r\nContent-Type: application/octet-stream\r\n"
                + "Content-Length: 11\r\nX-Request-Id: <id>\r\n\r\nhello world"
            client.send(RequestParserTests.post.replacing("Expect: 100-continue\r\n", with: ""))
            #expect(try client.receiveResponse() == expected)
            client.send(RequestParserTests.chunked)
            #expect(try client.receiveResponse() == expected)
            client.close()
        }
    }

    @Test("takes a body of exactly the limit")
    func largestBody() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            let body = String(repeating: "x", count: 1 << 20)
            client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n" + body)
            #expect(try client.receiveResponse().hasSuffix("\r\n\r\n" + body))
            client.close()
        }
    }

    @Test("asks for the body that a client holds back")
    func expectContinue() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            let (head, body) = (RequestParserTests.post.dropLast(11), RequestParserTests.post.suffix(11))
            client.send(String(head))
            #expect(try client.receiveResponse() == "HTTP/1.1 100 Continue\r\n\r\n")
            client.send(String(body))
            #expect(try client.receiveResponse().hasSuffix("\r\n\r\nhello world"))
            client.close()
        }
    }

    @Test("refuses a body that a client holds back at once, where it is too large")
    func expectTooLarge() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(
                "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\nExpect: 100-continue\r\n\r\n")
            #expect(
                try client.receiveAll()
                    == ExpectedResponse.error(
                        "413 Content Too Large", "The body is larger than this server takes."))
        }
    }

    @Test("answers pipelined requests in order, the slow first one first")
    func pipelining() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.gated + Self.hello + "GET /items/7 HTTP/1.1\r\nHost: h\r\n\r\n")
            await server.gate.arrivals()
            #expect(server.calls.withLock { $0 } == 0, "one request at a time")
            server.gate.open()
            #expect(try client.receiveResponse() == ExpectedResponse.gated)
            #expect(try client.receiveResponse() == ExpectedResponse.hello)
            #expect(try client.receiveResponse() == ExpectedResponse.text("200 OK", "7"))
            client.close()
        }
    }

    @Test("answers many pipelined requests that come at once")
    func deepPipelining() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(String(repeating: Self.hello, count: 500))
            for _ in 0..<500 { #expect(try client.receiveResponse() == ExpectedResponse.hello) }
            client.close()
        }
    }

    @Test("answers what it received before the client's half-close, then closes")
    func halfClose() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.gated + Self.hello)
            client.finishSending()
            #expect(try client.receiveResponse() == "HTTP/1.1 102 Processing\r\n\r\n")
            server.gate.open()
            #expect(try client.receiveAll() == ExpectedResponse.gated + ExpectedResponse.hello)
        }
    }

    @Test("answers an HTTP/1.0 client after its half-close, without an interim answer")
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
        "cancels the request of a client that is gone, and observes no answer", arguments: Departure.allCases)
    func departed(departure: Departure) async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.gated)
            await server.gate.arrivals()
            switch departure {
            case .close: client.close()
            case .reset: client.reset()
            case .halfCloseThenClose:
                client.finishSending()
                #expect(try client.receiveResponse() == "HTTP/1.1 102 Processing\r\n\r\n")
                client.reset()
            }
            while try await server.connectionCount() > 0 { await Task.yield() }
            server.gate.open()
            await server.returned.arrivals()
            // The handler's job ends before the loop does anything else.
            _ = try await server.connectionCount()
            #expect(server.wasCancelled.withLock { $0 })
            #expect(server.observations.withLock { $0.map(\.status) } == [nil])
        }
    }

    @Test("refuses what exceeds the requests in flight at once, but not on routes that do not count")
    func inFlightLimit() async throws {
        try await WireServer.run(inFlightLimit: 1) { server in
            let first = try WireClient(port: server.port)
            first.send(Self.gated)
            await server.gate.arrivals()
            let second = try WireClient(port: server.port)
            second.send(Self.gated)
            #expect(
                try second.receiveResponse()
                    == ExpectedResponse.text(
                        "503 Service Unavailable", "The server is at its limit.\n",
                        fields: "Retry-After: 7\r\n"))
            second.send(Self.hello)
            #expect(try second.receiveResponse() == ExpectedResponse.hello)
            server.gate.open()
            #expect(try first.receiveResponse() == ExpectedResponse.gated)
            second.send(Self.gated)
            #expect(try second.receiveResponse() == ExpectedResponse.gated)
            first.close()
            second.close()
        }
    }

    @Test("refuses connections over its capacity, and takes them again below it")
    func capacity() async throws {
        try await WireServer.run(HTTPServerConfiguration(maximumConnections: 1, retryAfterSeconds: 3)) {
            server in
            let first = try WireClient(port: server.port)
            first.send(Self.hello)
            #expect(try first.receiveResponse() == ExpectedResponse.hello)
            let second = try WireClient(port: server.port)
            second.send(Self.hello)
            #expect(
                try second.receiveAll()
                    == ExpectedResponse.error(
                        "503 Service Unavailable", "The server is at its limit.", fields: "Retry-After: 3\r\n"
                    ))
            first.close()
            while try await server.connectionCount() > 0 { await Task.yield() }
            let third = try WireClient(port: server.port)
            third.send(Self.hello)
            #expect(try third.receiveResponse() == ExpectedResponse.hello)
            third.close()
        }
    }

    @Test("observes every answer, those to requests that it can't read included")
    func observations() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send("GET /items/7?q HTTP/1.1\r\nHost: h\r\nX-Request-Id: one\r\n\r\n")
            let answer = try client.receiveResponse()
            client.send("nonsense\r\n\r\n")
            _ = try client.receiveAll()
            _ = try await server.connectionCount()
            let (first, second) = server.observations.withLock { ($0.first, $0.last) }
            #expect(first?.method == .get)
            #expect(first?.path == "/items/7")
            #expect(first?.routeTemplate == "/items/{id}")
            #expect(first?.status == .ok)
            #expect(first?.requestID == "one")
            #expect(first?.remoteAddress == "127.0.0.1")
            #expect(answer.hasSuffix("7"))
            #expect(second?.status == .badRequest)
            #expect(second?.method == nil)
        }
    }
}
