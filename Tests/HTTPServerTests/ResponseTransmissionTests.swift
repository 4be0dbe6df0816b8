import Loopback
import Testing

@testable import HTTPServer

@Suite("Responses that aren't sent whole", .timeLimit(.minutes(2)))
struct ResponseTransmissionTests {
    private static func request(_ path: String, method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: h\r\n\r\n"
    }

    private static let head =
        "HTTP/1.1 200 OK\r\nDate: <date>\r\nContent-Length: 10\r\nX-Request-Id: <id>\r\n\r\n"

    @Test(
        "A response is cut off after a part of its body, and the connection closed in order",
        arguments: [("/cut/0", ""), ("/cut/4", "0123"), ("/cut/99", "0123456789"), ("/cut/-1", "")])
    func isCutOff(path: String, body: String) async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            // What waits behind it would be taken for the rest of the body.
            client.send(Self.request(path) + WireRequest.hello)
            #expect(try client.receiveAll() == Self.head + body)
        }
    }

    @Test("A response is withheld and the connection reset, also if requests wait")
    func isReset() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/withheld") + WireRequest.hello)
            #expect(try client.ending() == .reset)
            client.close()
        }
    }

    @Test("A dripped response is complete, and the connection is kept")
    func isDripped() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/drip/3") + WireRequest.hello)
            #expect(try client.receiveResponse() == Self.head + "0123456789")
            #expect(try client.receiveResponse() == ExpectedResponse.hello)
            client.close()
        }
    }

    @Test("A dripped response is complete even if the system takes its pieces in parts")
    func isDrippedThroughAFullBuffer() async throws {
        try await WireServer.run { server in
            // So little that half of the response has to wait in the server.
            let client = try WireClient(port: server.port, receiveBuffer: 1 << 16)
            client.send(Self.request("/drip-big") + WireRequest.hello)
            _ = try client.receiveResponse(isHead: true)
            var missing = WireServer.bigBody.count
            while missing > 0 {
                let some = try client.receiveSome(atMost: min(missing, 1 << 16))
                try #require(!some.isEmpty)
                missing -= some.count
            }
            #expect(try client.receiveResponse() == ExpectedResponse.hello)
            client.close()
        }
    }

    @Test("A dripped response sends its first piece at once and the next one after an interval")
    func comesInPieces() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/drip-hourly"))
            let first = String(decoding: try client.receiveSome(atMost: 1), as: UTF8.self)
            await server.shutdown(timeout: .zero)
            #expect(try first + client.receiveAll() == Self.head + "01234")
        }
    }

    @Test("A dripped response stops when the client is gone")
    func endsWithItsClient() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/drip-hourly"))
            _ = try client.receiveSome(atMost: 1)
            client.reset()
            // Nothing is left to wait for, or this would take as long as the deadline.
            await server.shutdown(timeout: .seconds(600))
        }
    }

    @Test("A response to HEAD has no body to be cut off")
    func respondsToHead() async throws {
        try await WireServer.run { server in
            for path in ["/cut/4", "/drip/3"] {
                let client = try WireClient(port: server.port)
                client.send(Self.request(path, method: "HEAD"))
                #expect(try client.receiveResponse(isHead: true) == Self.head)
                client.close()
            }
        }
    }

    @Test("A body is split into pieces of one size, of which the last may be shorter")
    func piecesOfABody() {
        var pieces = BodyPieces([1, 2, 3, 4, 5][...], size: 2)
        #expect(pieces.next() == [1, 2])
        #expect(pieces.next() == [3, 4])
        #expect(!pieces.isEmpty)
        #expect(pieces.next() == [5])
        #expect(pieces.isEmpty)
        #expect(pieces.next().isEmpty)
        var smallest = BodyPieces([1, 2][...], size: 0)
        #expect(smallest.next() == [1])
    }
}
