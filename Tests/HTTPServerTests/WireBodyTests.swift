import Loopback
import EventLoop
import HTTPServer
import Testing

@Suite("Request bodies on the wire", .timeLimit(.minutes(2)))
struct WireBodyTests {
    @Test("A server accepts bodies with a length and in chunks")
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

    @Test("A server accepts a body of exactly the limit")
    func largestBody() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            let body = String(repeating: "x", count: 1 << 20)
            client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n" + body)
            #expect(try client.receiveResponse().hasSuffix("\r\n\r\n" + body))
            client.close()
        }
    }

    @Test("A server sends a 100 to a client that expects it")
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

    @Test("A server refuses a body that is too large before it sends a 100")
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
}
