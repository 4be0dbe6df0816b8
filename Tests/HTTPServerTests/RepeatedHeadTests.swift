import Testing

@testable import HTTPServer

@Suite("Repeated heads")
struct RepeatedHeadTests {
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

    /// What it says of each of them as the first of a connection, up to the first failure.
    private static func alone(_ requests: [[UInt8]]) -> [ParserRun.Event] {
        var events: [ParserRun.Event] = []
        for request in requests {
            events += ParserRun(pieces: [request]).events.filter { $0 != .idle }
            if case .failure = events.last { break }
        }
        return events
    }

    @Test(
        "A request that differs from the last one by its target is read like a first one",
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

    @Test("A request that differs from the last one elsewhere is read like a first one")
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
