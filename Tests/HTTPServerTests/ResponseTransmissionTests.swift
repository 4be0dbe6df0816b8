import Loopback
import Testing

@testable import HTTPServer

@Suite("An answer that isn't sent whole", .timeLimit(.minutes(2)))
struct ResponseTransmissionTests {
    private static func request(_ path: String, method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: h\r\n\r\n"
    }

    private static let head =
        "HTTP/1.1 200 OK\r\nDate: <date>\r\nContent-Length: 10\r\nX-Request-Id: <id>\r\n\r\n"

    @Test(
        "is cut off after its head and some of its body, and the connection ends in order",
        arguments: [("/cut/0", ""), ("/cut/4", "0123"), ("/cut/99", "0123456789"), ("/cut/-1", "")])
    func isCutOff(path: String, body: String) async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            // What waits behind it would be taken for the rest of the body.
            client.send(Self.request(path) + WireTests.hello)
            #expect(try client.receiveAll() == Self.head + body)
        }
    }

    @Test("is withheld, and the connection reset, whatever waits behind it")
    func isReset() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/withheld") + WireTests.hello)
            #expect(try client.ending() == .reset)
            client.close()
        }
    }

    @Test("is dripped to its end, and the connection goes on")
    func isDripped() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/drip/3") + WireTests.hello)
            #expect(try client.receiveResponse() == Self.head + "0123456789")
            #expect(try client.receiveResponse() == ExpectedResponse.hello)
            client.close()
        }
    }

    @Test("is dripped to its end even where the system takes a piece only bit by bit")
    func isDrippedThroughAFullBuffer() async throws {
        try await WireServer.run { server in
            // So little that half of the answer has to wait in the server.
            let client = try WireClient(port: server.port, receiveBuffer: 1 << 16)
            client.send(Self.request("/drip-big") + WireTests.hello)
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

    @Test("is dripped in pieces, the first at once and the next an interval later")
    func comesInPieces() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/drip-hourly"))
            let first = String(decoding: try client.receiveSome(atMost: 1), as: UTF8.self)
            await server.shutdown(deadline: .zero)
            #expect(try first + client.receiveAll() == Self.head + "01234")
        }
    }

    @Test("is dripped no more to a client that is gone")
    func endsWithItsClient() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(Self.request("/drip-hourly"))
            _ = try client.receiveSome(atMost: 1)
            client.reset()
            // Nothing is left to wait for, or this would take as long as the deadline.
            await server.shutdown(deadline: .seconds(600))
        }
    }

    @Test("has no body to be cut off where it answers HEAD")
    func answersHead() async throws {
        try await WireServer.run { server in
            for path in ["/cut/4", "/drip/3"] {
                let client = try WireClient(port: server.port)
                client.send(Self.request(path, method: "HEAD"))
                #expect(try client.receiveResponse(isHead: true) == Self.head)
                client.close()
            }
        }
    }

    @Test("goes out in pieces of one size, the last of which is shorter")
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
