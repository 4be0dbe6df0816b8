import Loopback
import EventLoop
import HTTPServer
import Testing

@Suite("Responses on the wire", .timeLimit(.minutes(2)))
struct WireResponseTests {
    @Test("A server shows nothing of a handler's error")
    func handlerFails() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send("GET /fails HTTP/1.1\r\nHost: h\r\n\r\n" + WireRequest.hello)
            #expect(
                try client.receiveResponse()
                    == ExpectedResponse.text(
                        "500 Internal Server Error", "The server could not respond to this request.\n"))
            #expect(try client.receiveResponse() == ExpectedResponse.hello, "the connection goes on")
            client.close()
        }
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

    @Test("A server observes every response, also to requests that can't be read")
    func observations() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send("GET /items/7?q HTTP/1.1\r\nHost: h\r\nX-Request-Id: one\r\n\r\n")
            let response = try client.receiveResponse()
            client.send("GET /items/7?q HTTP/1.1\r\nX-Request-Id: two\r\n\r\n")
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
            #expect(second?.requestID == "two")
            #expect(second?.method == nil)
        }
    }
}
