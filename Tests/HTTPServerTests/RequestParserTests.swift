import Randomness
import Testing

@testable import HTTPServer

@Suite("Request parser")
struct RequestParserTests {
    static let get = "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nX-Empty:\r\nX-Two:  a b \t\r\n\r\n"
    static let post =
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\nhello world"
    static let chunked =
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5;name=value;flag\r\nhello\r\n06\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n"

    @Test("A request is split into method, path, query and fields")
    func plainRequest() throws {
        let events = ParserRun(Self.get).events
        #expect(
            events == [
                .head(
                    "GET path=/a query=b=c [Host: example.org][X-Empty: ][X-Two: a b]",
                    keepsAlive: true,
                    expectsContinue: false, framing: .none),
                .body(""), .idle,
            ])
    }

    @Test("A body ends at its Content-Length")
    func lengthBody() {
        let events = ParserRun(Self.post + Self.get).events
        #expect(events.count == 5)
        #expect(events[1] == .body("hello world"))
        #expect(
            events[0]
                == .head(
                    "POST path=/echo query=nil [Host: h][Content-Length: 11][Expect: 100-continue]",
                    keepsAlive: true, expectsContinue: true, framing: .length(11)))
    }

    @Test("A chunked body is joined, and its extensions and trailers are ignored")
    func chunkedBody() {
        let events = ParserRun(Self.chunked).events
        #expect(events.dropFirst() == [.body("hello world"), .idle])
    }

    @Test("A request split at any byte is the same request", arguments: [get, post, chunked])
    func splitAnywhere(request: String) {
        let bytes = Array((request + Self.get).utf8)
        let whole = ParserRun(pieces: [bytes]).events
        for index in bytes.indices.dropFirst() {
            let events = ParserRun(pieces: [Array(bytes[..<index]), Array(bytes[index...])]).events
            #expect(events == whole, "split at \(index)")
        }
        #expect(ParserRun(pieces: bytes.map { [$0] }).events == whole, "byte by byte")
    }

    @Test("A hostile request gets the same error however it is split", arguments: HostileRequest.all)
    func hostileSplitAnywhere(hostile: HostileRequest) {
        let whole = ParserRun(pieces: [hostile.bytes]).failure
        #expect(whole?.status == hostile.status, "\(hostile.name)")
        #expect(ParserRun(pieces: hostile.bytes.map { [$0] }).failure == whole, "byte by byte")
        guard hostile.bytes.count < 400 else { return }
        for index in hostile.bytes.indices.dropFirst() {
            let run = ParserRun(pieces: [Array(hostile.bytes[..<index]), Array(hostile.bytes[index...])])
            #expect(run.failure == whole, "split at \(index)")
        }
    }

    @Test("Up to four empty lines before a request are skipped")
    func emptyLines() {
        #expect(ParserRun("\r\n\r\n\r\n\r\n" + Self.get).events.count == 3)
        #expect(ParserRun("\r\n\r\n\r\n\r\n\r\n" + Self.get).failure?.status == .badRequest)
    }

    @Test(
        "The version and the Connection field decide whether a connection is kept",
        arguments: [
            ("HTTP/1.1", "", true), ("HTTP/1.1", "close", false), ("HTTP/1.1", "Keep-Alive, CLOSE", false),
            ("HTTP/1.1", "upgrade", true), ("HTTP/1.0", "", false), ("HTTP/1.0", "keep-alive", true),
            ("HTTP/1.0", "keep-alive, close", false), ("HTTP/1.0", "x,Keep-Alive ,y", true),
        ])
    func keepAlive(version: String, connection: String, isKept: Bool) {
        let field = connection.isEmpty ? "" : "Connection: \(connection)\r\n"
        let events = ParserRun("GET / \(version)\r\nHost: h\r\n\(field)\r\n").events
        guard case .head(_, let keepsAlive, _, _) = events.first else {
            Issue.record("not a request: \(events)")
            return
        }
        #expect(keepsAlive == isKept)
    }

    @Test("A later minor version of HTTP/1 is read as HTTP/1.1", arguments: ["HTTP/1.2", "HTTP/1.9"])
    func laterMinorVersion(version: String) {
        #expect(
            ParserRun("GET / \(version)\r\nHost: h\r\n\r\n").events
                == ParserRun("GET / HTTP/1.1\r\nHost: h\r\n\r\n").events)
    }

    @Test("Blanks after a field's value don't belong to it", arguments: [" ", "\t", " \t \t"])
    func trailingBlanks(blanks: String) {
        let length =
            "POST / HTTP/1.1\r\nHost: h\(blanks)\r\nContent-Length: 2\(blanks)\r\nX:\(blanks)\r\n\r\nab"
        #expect(ParserRun(length).events == ParserRun(length.replacing(blanks + "\r\n", with: "\r\n")).events)
        let chunked =
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\(blanks)\r\n\r\n"
            + "2\r\nab\r\n0\r\nA: b\(blanks)\r\n\r\n"
        #expect(ParserRun(chunked).events.dropFirst() == [.body("ab"), .idle])
    }

    @Test(
        "Chunk extensions of every form of the grammar are ignored",
        arguments: [
            "5;a", "5;a=b", "5;a=\"b\"", "5; a = b ;c", "5;a=\"b;\\\"\tc\"", "5;a=\"\"",
            "5;a\t;b = \"é\";c=d",
        ])
    func chunkExtensions(line: String) {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        let events = ParserRun(head + "\(line)\r\nhello\r\n0\r\n\r\n").events
        #expect(events.dropFirst() == [.body("hello"), .idle])
    }

    @Test("A header block may have 16 KiB, line ends included, and not a byte more")
    func largestHeaderBlock() {
        func events(_ blockBytes: Int) -> [ParserRun.Event] {
            let value = String(repeating: "v", count: blockBytes - "Host: h\r\nX: \r\n".utf8.count)
            return ParserRun("GET / HTTP/1.1\r\nHost: h\r\nX: \(value)\r\n\r\n").events
        }
        #expect(events(16 * 1024).count == 3)
        #expect(events(16 * 1024 + 1) == [.failure(.headersTooLarge)])
    }

    @Test("A request with Upgrade is an ordinary request, with a body or without")
    func upgrade() {
        let head = "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        #expect(ParserRun(head + "\r\n" + Self.get).events.count == 5)
        #expect(ParserRun(head + "Content-Length: 2\r\n\r\nab" + Self.get).events[1] == .body("ab"))
    }

    @Test(
        "Request targets have one of the forms of RFC 9112",
        arguments: [
            ("GET", "http://Example.org:80/p?q", "path=/p query=q"), ("GET", "HTTPS://h", "path=/ query=nil"),
            ("GET", "http://h?q", "path=/ query=q"), ("OPTIONS", "*", "path=* query=nil"),
            ("GET", "//a/b", "path=//a/b query=nil"), ("GET", "/?", "path=/ query="),
            ("GET", "http://[::1]:8080/", "path=/ query=nil"),
        ])
    func targets(method: String, target: String, parts: String) {
        let events = ParserRun("\(method) \(target) HTTP/1.1\r\nHost: h\r\n\r\n").events
        guard case .head(let text, _, _, _) = events.first else {
            Issue.record("not a request: \(events)")
            return
        }
        #expect(text == "\(method) \(parts) [Host: h]")
    }

    @Test("Any bytes are a request, an error or incomplete, and never a crash")
    func garbage() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed of RequestParserTests.garbage: \(seed)")
        var random = SeededGenerator(seed: seed)
        let sources = [Self.get, Self.post, Self.chunked].map { Array($0.utf8) }
        for _ in 0..<5000 {
            guard var bytes = sources.randomElement(using: &random) else { return }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: [13, 10, 0, 58, 32].shuffled(using: &random), at: index)
                }
            }
            let whole = ParserRun(pieces: [bytes]).events
            #expect(ParserRun(pieces: bytes.map { [$0] }).events == whole)
        }
    }
}
