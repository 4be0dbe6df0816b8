import Loopback
import EventLoop
import HTTPServer
import Testing

@Suite("Responses on the wire", .timeLimit(.minutes(2)))
struct WireResponseTests {
    private func expectResponse(
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

    @Test("A server responds to a request and keeps the connection")
    func keepAlive() async throws {
        try await expectResponse(to: WireRequest.hello, ExpectedResponse.hello)
    }

    @Test("A server responds to a request that arrives byte by byte")
    func byteByByte() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            for byte in WireRequest.hello.utf8 { client.send([byte]) }
            #expect(try client.receiveResponse() == ExpectedResponse.hello)
            client.close()
        }
    }

    @Test("A server's response to HEAD has the length of GET's")
    func head() async throws {
        try await expectResponse(
            to: "HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n",
            ExpectedResponse.text("200 OK", "hello", isHead: true), isHead: true)
    }

    @Test("A server sends neither body nor length with 204")
    func noContent() async throws {
        try await expectResponse(
            to: "GET /empty HTTP/1.1\r\nHost: h\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nDate: <date>\r\nX-Request-Id: <id>\r\n\r\n")
    }

    @Test("A server sends neither body nor length with 304")
    func notModified() async throws {
        try await expectResponse(
            to: "GET /unchanged HTTP/1.1\r\nHost: h\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nDate: <date>\r\nETag: \"1\"\r\nX-Request-Id: <id>\r\n\r\n")
    }

    @Test("A server responds with 404 to an unknown path and keeps the connection")
    func notFound() async throws {
        try await expectResponse(
            to: "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n",
            ExpectedResponse.text("404 Not Found", "There is nothing at this path.\n"))
    }

    @Test("A server responds with 405 and Allow to a method that the path doesn't have")
    func methodNotAllowed() async throws {
        try await expectResponse(
            to: "DELETE /hello HTTP/1.1\r\nHost: h\r\n\r\n",
            ExpectedResponse.text(
                "405 Method Not Allowed", "This path does not have this method.\n",
                fields: "Allow: GET, HEAD, OPTIONS\r\n"))
    }

    @Test("A server shows nothing of a handler's error")
    func handlerFails() async throws {
        try await expectResponse(
            to: "GET /fails HTTP/1.1\r\nHost: h\r\n\r\n",
            ExpectedResponse.text(
                "500 Internal Server Error", "The server could not respond to this request.\n"))
    }

    @Test("A handler can't split its response, and can have the connection closed")
    func handlerCloses() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send("GET /closes HTTP/1.1\r\nHost: h\r\n\r\n" + WireRequest.hello)
            #expect(
                try client.receiveAll()
                    == "HTTP/1.1 200 OK\r\nDate: <date>\r\nX-Split: a  b: c \r\nContent-Length: 1\r\n"
                    + "X-Request-Id: <id>\r\nConnection: close\r\n\r\n!")
            #expect(server.calls.withLock { $0 } == 0, "the request after the last response is not served")
        }
    }

    @Test("A server repeats an acceptable request id, and replaces any other")
    func requestIDs() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            func response(_ id: String) throws -> String {
                client.send("GET /hello HTTP/1.1\r\nHost: h\r\nX-Request-Id: \(id)\r\n\r\n")
                return try client.receiveResponse()
            }
            #expect(try response("My_id.1-2") == ExpectedResponse.text("200 OK", "hello", id: "My_id.1-2"))
            for unacceptable in ["", "a b", "a\"b", String(repeating: "a", count: 129)] {
                #expect(try response(unacceptable) == ExpectedResponse.hello)
            }
            client.close()
        }
    }

    @Test("A server closes a connection of HTTP/1.0, unless the client wants it kept")
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

    @Test("A server observes every response, also to requests that can't be read")
    func observations() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send("GET /items/7?q HTTP/1.1\r\nHost: h\r\nX-Request-Id: one\r\n\r\n")
            let response = try client.receiveResponse()
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
            #expect(response.hasSuffix("7"))
            #expect(second?.status == .badRequest)
            #expect(second?.method == nil)
        }
    }
}
