import Loopback
import Testing

@testable import HTTPServer

@Suite("Responses that a handler writes", .timeLimit(.minutes(2)))
struct ResponseWriterTests {
    private static func request(_ path: String, method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: h\r\n\r\n"
    }

    private static let head =
        "HTTP/1.1 200 OK\r\nDate: <date>\r\nContent-Length: 10\r\nX-Request-Id: <id>\r\n"
        + "Connection: close\r\n\r\n"

    @Test("A part of a response is sent as it was written, and the connection closed in order")
    func isWrittenInPart() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            // What waits behind it would be taken for the rest of the body.
            client.send(Self.request("/cut") + WireRequest.hello)
            #expect(try client.receiveAll() == Self.head + "0123")
        }
    }

    @Test("The connection is reset if the response isn't written, also if requests wait")
    func isReset() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/withheld") + WireRequest.hello)
            #expect(try client.ending() == .reset)
            client.close()
        }
    }

    @Test("A response that is written in pieces is complete even if the system takes them in parts")
    func isWrittenThroughAFullBuffer() async throws {
        try await WireServer.run { server in
            // So little that much of a piece has to wait in the server.
            let client = try WireClient(port: server.port, receiveBuffer: 1 << 16)
            client.send(Self.request("/pieces"))
            var received = try client.receive(count: 10 << 20)
            server.gate.open()
            received += try client.receiveBytes()
            #expect(received.suffix(WireServer.bigBody.count).elementsEqual(WireServer.bigBody))
        }
    }

    @Test("What was written is sent at once, and the rest stops at the end of a shutdown")
    func comesInPieces() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/unfinished"))
            let first = String(decoding: try client.receiveSome(atMost: 1), as: UTF8.self)
            await server.shutdown(timeout: .zero)
            #expect(try first + client.receiveAll() == Self.head + "01234")
        }
    }

    @Test("A writer stops when the client is gone")
    func endsWithItsClient() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/unfinished"))
            _ = try client.receiveSome(atMost: 1)
            client.reset()
            // Nothing is left to wait for, or this would take as long as the deadline.
            await server.shutdown(timeout: .seconds(600))
        }
    }

    @Test("A response to HEAD has no body to be written")
    func respondsToHead() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/cut", method: "HEAD"))
            #expect(try client.receiveAll() == Self.head)
        }
    }
}
