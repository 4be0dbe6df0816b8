import Loopback
import Testing

@testable import HTTPServer

@Suite("A head that is refused")
struct RefusedHeadTests {
    private static let id = "X-Request-Id: mine\r\n"
    private static let long = String(repeating: "a", count: 300)

    /// The statuses and the request ids of the responses to bytes that come whole, in two pieces and byte by byte: one
    /// entry for each difference.
    private static func responses(
        to text: String, then event: HTTPConnectionStateMachine.Event? = nil
    ) async throws -> Set<[String]> {
        let bytes = Array(text.utf8)
        return try await withLoop { loop in
            try await loop.submit {
                let server = TableServer(loop: loop)
                let splits =
                    [[bytes[...]], bytes.map { [$0] }]
                    + bytes.indices.dropFirst().map { [bytes[..<$0], bytes[$0...]] }
                return Set(try splits.map { describe(try server.exchange($0, then: event).bytes) })
            }
        }
    }

    private static func describe(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
            if line.hasPrefix("HTTP/1.1 ") { return String(line.dropFirst(9).prefix(3)) }
            guard line.hasPrefix("X-Request-Id: ") else { return nil }
            let id = line.dropFirst(14)
            return id.count == 15 ? "new" : String(id)
        }
    }

    @Test(
        "The response to a refused head has the client's request id, however the bytes are split",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: h\r\n\(id)Host: i\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\n\(id)\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: h\r\nx-REQUEST-id:\t mine \t\r\nX : 1\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: h\r\n\(id)X: \u{1}\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: h\r\n\(id)X: 1\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: h\r\n\(id)X: 1\r\n 2\r\n\r\n", "400"),
            ("GET * HTTP/1.1\r\nHost: h\r\n\(id)\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: h\r\n\(id)Expect: tea\r\n\r\n", "417"),
            ("GET / HTTP/1.1\r\nHost: h\r\n\(id)X: \(long)", "431"),
            ("BREW / HTTP/1.1\r\nHost: h\r\n\(id)\r\n", "501"),
            ("CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\(id)\r\n", "501"),
            ("POST /a HTTP/1.1\r\nHost: h\r\n\(id)Transfer-Encoding: gzip, chunked\r\n\r\n", "501"),
            ("GET / HTTP/2.0\r\nHost: h\r\n\(id)\r\n", "505"),
        ])
    func keepsID(request: String, status: String) async throws {
        #expect(try await Self.responses(to: request) == [[status, "mine"]])
        let first = "GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: first\r\n\r\n"
        #expect(try await Self.responses(to: first + request) == [["200", "first", status, "mine"]])
    }

    @Test(
        "The response has the client's request id if the head differs from the previous one only in its target"
    )
    func repeated() async throws {
        let requests = ["/", "/#"].map { "GET \($0) HTTP/1.1\r\nHost: h\r\n\(Self.id)\r\n" }
        #expect(try await Self.responses(to: requests.joined()) == [["200", "mine", "400", "mine"]])
    }

    @Test("The response has the client's request id if the rest of the head is late or never comes")
    func incomplete() async throws {
        let head = "GET / HTTP/1.1\r\nHost: h\r\n\(Self.id)X"
        let late = try await Self.responses(to: head, then: .deadlineReached(progressed: false))
        #expect(late == [["408", "mine"]])
        #expect(try await Self.responses(to: head, then: .peerEnded) == [["400", "mine"]])
        let first = "GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: first\r\n\r\nGET"
        #expect(try await Self.responses(to: first, then: .peerEnded) == [["200", "first", "400", "new"]])
    }

    @Test(
        "The response has a new id if the client's is invalid, follows the fault, or belongs to another request",
        arguments: [
            "GET / HTTP/1.1\r\nX-Request-Id: a b\r\n\r\n", "GET / HTTP/1.1\r\nX: \u{1}\r\n\(id)\r\n",
            "GET / HTTP/1.1\r\nX: X-Request-Id: mine\r\n\r\n", "GET /\r\n\(id)\r\n", "\n\(id)\r\n",
            "GET / HTTP/1.1\r\nX-Request-Id: mine\n\r\n",
        ])
    func newID(request: String) async throws {
        let first = "GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: first\r\n\r\n"
        #expect(try await Self.responses(to: first + request) == [["200", "first", "400", "new"]])
    }
}
