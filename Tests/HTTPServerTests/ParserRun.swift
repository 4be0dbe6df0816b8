@testable import HTTPServer

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
