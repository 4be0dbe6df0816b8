import Randomness
import Testing

@testable import HTTPServer

@Suite("Plain heads, which are read in one pass")
struct PlainHeadTests {
    private static let get = "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nX-Empty:\r\nX-Two:  a b \t\r\n\r\n"
    private static let post =
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\nhello world"
    private static let chunked =
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5;name=value;flag\r\nhello\r\n06\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n"

    private static let fields =
        "Host: h\r\nAccept: */*\r\nX-Two:  a b\r\nAuthorization: Bearer k\r\nIf-None-Match: \"a\"\r\n"
        + "Origin: o\r\nX-Request-Id: i\r\n\r\n"

    /// What a parser says of requests that follow each other on one connection.
    private static func together(_ requests: [[UInt8]]) -> [ParserRun.Event] {
        ParserRun(pieces: requests).events.filter { $0 != .idle }
    }

    /// What it says of each of them as the first of a connection, up to the first failure, where they come byte by byte:
    /// then guards and llhttp read them.
    private static func alone(_ requests: [[UInt8]]) -> [ParserRun.Event] {
        var events: [ParserRun.Event] = []
        for request in requests {
            events += ParserRun(pieces: request.map { [$0] }).events.filter { $0 != .idle }
            if case .failure = events.last { break }
        }
        return events
    }

    @Test(
        "Whatever the target, a request in one piece is read as one that comes byte by byte",
        arguments: [
            "/a?b=c", "/", "/longer/than/the/first?lat=37.3293&long=-121.8893", "//", "/?", "/a?b=?c",
            "http://host/a", "*", "/a#fragment", "/a b", "/\u{7F}", "/é", "", "a",
            "/" + String(repeating: "a", count: 9000),
        ])
    func target(target: String) {
        for first in ["/a?b=c", "/", "/a/much/longer/path/than/most/others"] {
            let requests = [first, target, first].map { Array("GET \($0) HTTP/1.1\r\n\(Self.fields)".utf8) }
            #expect(Self.together(requests) == Self.alone(requests))
            let joined = ParserRun(pieces: [requests.flatMap { $0 }]).events.filter { $0 != .idle }
            #expect(joined == Self.alone(requests))
        }
    }

    @Test("A request in one piece is read as one that comes byte by byte, whatever came before it")
    func others() {
        let first = "GET /a HTTP/1.1\r\n\(Self.fields)"
        for other in [
            "HEAD /a HTTP/1.1\r\n\(Self.fields)", "GET /a HTTP/1.0\r\n\(Self.fields)",
            "PUT /a HTTP/1.1\r\n\(Self.fields)", "GETS /a HTTP/1.1\r\n\(Self.fields)",
            "GET /a HTTP/1.2\r\n\(Self.fields)", "GET /a HTTP/2.0\r\n\(Self.fields)",
            "GET /a HTTP/1.1\r\nHost: i\r\n\r\n", "GET /a HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nX-Two:  a c\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET /a HTTP/1.1\r\n\r\n",
            "GET /a HTTP/1.1\n\(Self.fields)", Self.post, Self.chunked, Self.get,
        ] {
            let requests = [first, other, other, first].map { Array($0.utf8) }
            #expect(Self.together(requests) == Self.alone(requests), "\(other)")
        }
    }

    @Test(
        "A head that is as long as it may be, or has as many fields, is read in the same way",
        arguments: [0, 1, 63, 64, 65, 200], [16_384, 16_385, 16_400])
    func limits(count: Int, length: Int) {
        let fields = (0..<count).map { "X-\($0): v\r\n" }.joined()
        let start = "Host: h\r\n\(fields)X-Long: "
        let value = String(repeating: "v", count: length - start.utf8.count - 2)
        let request = Array("GET /a HTTP/1.1\r\n\(start)\(value)\r\n\r\n".utf8)
        #expect(Self.together([request]) == Self.alone([request]))
    }

    @Test("A damaged head in one piece is read as one that comes byte by byte")
    func damaged() {
        var random = SeededGenerator()
        let lines = [
            "Host: h", "Host: example.org:8080", "Host: [::1]", "Accept: */*", "Connection: keep-alive",
            "Connection: close",
            "Content-Length: 0", "Content-Length: 2", "Transfer-Encoding: chunked", "Expect: 100-continue",
            "X-Empty:",
            "Upgrade: h2c", "If-None-Match: \"a\"", "User_Agent.!#$%&'*+^`|~: a", "X-Blank:  a b \t",
            "X-Text: \u{E9}",
            "x-request-id: 1", "X-Request-Id: 2", "Te xt: a", "No colon", ": no name", " folded",
            "Name : blank",
        ]
        let damages: [UInt8] = [0, 9, 10, 13, 32, 34, 58, 127, 128, 255]
        for _ in 0..<1500 {
            let method = ["GET", "HEAD", "GET", "POST", "GE\u{E9}"].randomElement(using: &random) ?? ""
            let version = ["1.1", "1.1", "1.1", "1.0", "1.9", "2.0"].randomElement(using: &random) ?? ""
            let fields = (0..<Int.random(in: 0...6, using: &random)).map { number in
                (number == 0
                    ? lines.prefix(3).randomElement(using: &random) : lines.randomElement(using: &random))
                    ?? ""
            }
            var request = Array(
                ([[method, "/a?b", "HTTP/\(version)"].joined(separator: " ")] + fields + ["", ""])
                    .joined(separator: "\r\n").utf8)
            if Bool.random(using: &random), let place = request.indices.randomElement(using: &random) {
                request[place] = damages.randomElement(using: &random) ?? 0
            }
            #expect(
                Self.together([request]) == Self.alone([request]),
                "\(String(decoding: request, as: UTF8.self)); POI_TEST_SEED=\(random.seed)")
        }
    }

    @Test("A request that is still in use isn't changed by the next one")
    func inUse() throws {
        let parser = RequestParser(limits: HTTPLimits())
        var requests: [HTTPRequest] = []
        for path in ["/first", "/the/second", "/3"] {
            var offset = 0
            let bytes = Array("GET \(path) HTTP/1.1\r\n\(Self.fields)".utf8)
            _ = bytes.withUnsafeBytes { parser.next($0, from: &offset) }
            requests.append(try #require(parser.takeHead()).request)
            _ = bytes.withUnsafeBytes { parser.next($0, from: &offset) }
        }
        #expect(requests.map(\.path) == ["/first", "/the/second", "/3"])
        for request in requests {
            #expect(request.headers.map(\.value) == ["h", "*/*", "a b", "Bearer k", "\"a\"", "o", "i"])
        }
    }
}
