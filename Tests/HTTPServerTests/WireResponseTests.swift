import EventLoop
import HTTPServer
import Loopback
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
}

/// A complete response of the test's server, as `WireClient.receiveResponse` returns it.
enum ExpectedResponse {
    static func text(
        _ status: String, _ body: String, fields: String = "", connection: String? = nil,
        isHead: Bool = false, id: String = "<id>"
    ) -> String {
        "HTTP/1.1 \(status)\r\nDate: <date>\r\nContent-Type: text/plain; charset=utf-8\r\n\(fields)"
            + "Content-Length: \(body.utf8.count)\r\nX-Request-Id: \(id)\r\n"
            + (connection.map { "Connection: \($0)\r\n" } ?? "") + "\r\n" + (isHead ? "" : body)
    }

    /// A response that can have no body.
    static func empty(_ status: String, fields: String = "", connection: String? = nil) -> String {
        "HTTP/1.1 \(status)\r\nDate: <date>\r\n\(fields)X-Request-Id: <id>\r\n"
            + (connection.map { "Connection: \($0)\r\n" } ?? "") + "\r\n"
    }

    static func error(_ status: String, _ detail: String, fields: String = "") -> String {
        text(status, detail + "\n", fields: fields, connection: "close")
    }

    /// Length of `hello` as it is sent: a date has 29 bytes, an id 15.
    static let helloLength = hello.utf8.count - "<date><id>".utf8.count + 29 + 15
    static let hello = text("200 OK", "hello")
    static let now = text("200 OK", "now")
    static let gated = text("200 OK", "gated")
    static let lastHello = text("200 OK", "hello", connection: "close")
}

extension WireClient {
    /// Receives one response, or what comes of it until the end.
    func receiveResponse(isHead: Bool = false) throws -> String {
        do {
            let message = try receiveMessage(isHead: isHead)
            return Self.normalized(Array(message.head.utf8) + message.body)
        } catch let end as EndOfStream {
            return Self.normalized(end.received)
        }
    }

    /// Receives everything to the end and closes.
    func receiveAll() throws -> String { Self.normalized(try receiveBytes()) }

    /// Receives everything to the end; returns how many bytes that were.
    func receiveCount() throws -> Int {
        var count = 0
        while true {
            let more = try receiveSome()
            if more.isEmpty { return count }
            count += more.count
        }
    }

    /// A text without what differs from run to run: the time, and ids that the server made.
    private static func normalized(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
            .replacing(
                /Date: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT/,
                with: "Date: <date>"
            )
            .replacing(/X-Request-Id: [0-9a-z]{15}\r\n/, with: "X-Request-Id: <id>\r\n")
    }
}

/// Requests that most tests send.
enum WireRequest {
    static let hello = "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n"
    static let now = "GET /now HTTP/1.1\r\nHost: h\r\n\r\n"
    static let gated = "GET /gated HTTP/1.1\r\nHost: h\r\n\r\n"
}
