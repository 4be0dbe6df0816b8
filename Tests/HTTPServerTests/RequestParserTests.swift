import Randomness
import Testing
import WireCases

@testable import HTTPServer

@Suite("Request parser")
struct RequestParserTests {
    @Test("A header block may have 16 KiB, line ends included, and not a byte more")
    func largestHeaderBlock() {
        func events(_ blockBytes: Int) -> [ParserRun.Event] {
            let value = String(repeating: "v", count: blockBytes - "Host: h\r\nX: \r\n".utf8.count)
            return ParserRun("GET / HTTP/1.1\r\nHost: h\r\nX: \(value)\r\n\r\n").events
        }
        #expect(events(16 * 1024).count == 3)
        #expect(events(16 * 1024 + 1) == [.failure(.headersTooLarge)])
    }

    @Test("Every control character except the tab is refused anywhere in a head")
    func controlCharacters() {
        for byte in (UInt8(0)...31).filter({ $0 != 9 && $0 != 13 }) + [127] {
            for prefix in ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nA: "] {
                #expect(
                    ParserRun(pieces: [Array(prefix.utf8) + [byte]]).failure != nil,
                    "\(byte) behind \(prefix)")
            }
        }
    }

    @Test("The memory of a large head, or of many fields, isn't kept for the connection's next request")
    func keptMemory() {
        let parser = RequestParser(limits: HTTPLimits())
        func read(_ lines: String, method: String = "GET") {
            let bytes = Array("\(method) / HTTP/1.1\r\nHost: h\r\n\(lines)\r\n".utf8)
            for piece in [bytes.prefix(100), bytes.dropFirst(100)] {
                var offset = 0
                while offset < piece.count {
                    if case .head = Array(piece).withUnsafeBytes({ parser.next($0, from: &offset) }) {
                        _ = parser.takeHead()
                        _ = parser.next(UnsafeRawBufferPointer(start: nil, count: 0), from: &offset)
                    }
                }
            }
        }
        read("X: \(String(repeating: "v", count: 1500))\r\n")
        #expect(parser.state.value.block.capacity >= 1500, "that of a common head is")
        read("X: \(String(repeating: "v", count: 15_000))\r\n")
        #expect(parser.state.value.block.capacity <= 2048)
        #expect(parser.state.value.accumulated.capacity == 0)
        // A plain head is read by itself, any other by the guards and llhttp.
        for method in ["GET", "OPTIONS"] {
            read(String(repeating: "X: v\r\n", count: 1000))
            #expect(parser.state.value.block.capacity <= 2048)
            #expect(parser.state.value.fields.capacity >= 1000)
            read("X: v\r\n", method: method)
            #expect(parser.state.value.fields.capacity <= 64)
        }
    }

    @Test("Any bytes are a request, an error or incomplete, and never a crash")
    func garbage() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("seed of RequestParserTests.garbage: \(seed)")
        var random = SeededGenerator(seed: seed)
        let sources = try WireTable.cases().map(\.request)
        for _ in 0..<5000 {
            guard var bytes = sources.randomElement(using: &random) else { return }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                guard let index = bytes.indices.randomElement(using: &random) else { break }
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

/// What a parser says of bytes that come in pieces.
struct ParserRun {
    enum Event: Equatable {
        case head(String, keepsAlive: Bool, expectsContinue: Bool, framing: RequestHead.Framing)
        case body(String)
        case failure(HTTPError)
        /// All was used up, inside a request.
        case unfinished
        /// All was used up, between requests.
        case idle
    }

    private(set) var events: [Event] = []

    /// Fields that are found by what the parser has noted, not by their names.
    private static let knownNames: [HTTPHeaderName] = [
        .accept, .acceptEncoding, .authorization, .ifMatch, .ifNoneMatch, .origin, .traceParent, .requestID,
    ]

    var failure: HTTPError? {
        if case .failure(let error) = events.last { error } else { nil }
    }

    init(_ text: String) {
        self.init(pieces: [Array(text.utf8)])
    }

    init(pieces: [[UInt8]]) {
        let parser = RequestParser(limits: HTTPLimits())
        var last = Event.idle
        for piece in pieces {
            var offset = 0
            while let event = piece.withUnsafeBytes({ Self.event(parser, $0, &offset, &last) }) {
                events.append(event)
                if case .failure = event { return }
            }
        }
        events.append(last)
    }

    private static func event(
        _ parser: RequestParser, _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, _ last: inout Event
    ) -> Event? {
        switch parser.next(bytes, from: &offset) {
        case .needsMore(let isInRequest):
            last = isInRequest ? .unfinished : .idle
            return nil
        case .head:
            guard let head = parser.takeHead() else { return nil }
            let request = head.request
            let fields = request.headers.map { "[\($0.name): \($0.value)]" }.joined()
            let known = Self.knownNames.map { "\(request.headers.all($0))" }.joined()
            let text =
                "\(request.method) path=\(request.path) query=\(request.query ?? "nil") \(fields) \(known)"
            return .head(
                text, keepsAlive: head.keepsAlive, expectsContinue: head.expectsContinue,
                framing: head.framing)
        case .body(let body): return .body(String(decoding: body, as: UTF8.self))
        case .failure(let error): return .failure(error)
        }
    }
}
