@testable import HTTPServer

/// What the parser makes of bytes that come in pieces.
struct ParserReading: Equatable {
    enum End: Equatable {
        case idle, insideRequest
        case failed(HTTPError)
    }

    private(set) var requests: [ReadRequest] = []
    private(set) var end = End.idle
    /// How many heads ask for `100 Continue`.
    private var continueIndices: [Int] = []

    /// The requests up to the first that ends the connection.
    var served: ArraySlice<ReadRequest> {
        guard let last = requests.firstIndex(where: { !$0.keepsAlive }) else { return requests[...] }
        return requests[...last]
    }

    /// How many `100 Continue` the client gets.
    var expectedContinues: Int {
        let isOpen = served.last?.keepsAlive != false
        return continueIndices.count { $0 < served.count + (isOpen ? 1 : 0) }
    }

    init(_ pieces: [[UInt8]], limits: HTTPLimits = FuzzedServer.limits) {
        let parser = RequestParser(limits: limits)
        var head: RequestHead?
        for piece in pieces {
            var offset = 0
            pieceLoop: while true {
                switch piece.withUnsafeBytes({ parser.next($0, from: &offset) }) {
                case .needsMore(let isInRequest):
                    require(offset == piece.count, "the parser wants more and has left bytes")
                    end = isInRequest ? .insideRequest : .idle
                    break pieceLoop
                case .head:
                    head = parser.takeHead()
                    if head?.expectsContinue == true { continueIndices.append(requests.count) }
                case .body(let body):
                    guard let read = head.take() else { fatalError("a body without a head") }
                    requests.append(ReadRequest(read, body: body))
                case .failure(let error):
                    end = .failed(error)
                    Self.checkFailure(of: parser, with: error)
                    return
                }
            }
            let keptBytes = parser.state.value.accumulated.count
            require(
                keptBytes <= limits.requestLineBytes + limits.headerBlockBytes + 4, "too long a head is kept")
            require(parser.llhttp.record.body.count <= limits.bodyBytes, "too long a body is kept")
        }
    }

    /// What follows a request that can't be read may be anything, so nothing of it is read.
    private static func checkFailure(of parser: RequestParser, with error: HTTPError) {
        var offset = 0
        let rest = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        guard case .failure(error) = rest.withUnsafeBytes({ parser.next($0, from: &offset) }) else {
            fatalError("the parser reads on after \(error)")
        }
    }
}

/// A request as the parser has read it.
struct ReadRequest: Equatable {
    var method: String
    var target: [UInt8]
    var version: HTTPVersion
    var fields: [[[UInt8]]]
    var keepsAlive: Bool
    var body: [UInt8]
    /// What the server responds with.
    var echo: [UInt8]

    static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.target == right.target && left.version == right.version
            && left.fields == right.fields && left.keepsAlive == right.keepsAlive && left.body == right.body
    }

    init(_ head: RequestHead, body: [UInt8]) {
        var request = head.request
        request.body = body
        echo = request.echo
        let bytes = request.headers.storage
        method = request.method.rawValue
        target = Array(request.pathBytes)
        if request.query != nil { target += [UInt8(ascii: "?")] + request.queryBytes }
        version = head.version
        keepsAlive = head.keepsAlive
        fields = request.headers.fields.map {
            [[UInt8](bytes[$0.nameStart..<$0.nameEnd]), [UInt8](bytes[$0.valueStart..<$0.valueEnd])]
        }
        self.body = body
    }

    /// Checks that the parser was right to accept it, and that it reads the same when it is written anew.
    func check() {
        let limits = FuzzedServer.limits
        require(
            target.count + method.utf8.count <= limits.requestLineBytes
                && fields.joined().joined().count <= limits.headerBlockBytes
                && body.count <= limits.bodyBytes,
            "too large a request was accepted: \(self)")
        let written = plain.written
        let again = ParserReading([written], limits: HTTPLimits())
        require(
            again.requests == [plain] && again.end == .idle,
            "written anew, \(self) is read as \(again): \(written.text)")
    }

    private static let framingFields = ["content-length", "transfer-encoding", "expect"]

    /// The same with its length told at the head, and with a target without an authority.
    private var plain: Self {
        var plain = self
        plain.fields.removeAll { Self.framingFields.contains($0[0].text.lowercased()) }
        if !body.isEmpty { plain.fields.append([Array("Content-Length".utf8), Array("\(body.count)".utf8)]) }
        if target.isEmpty || target.first == UInt8(ascii: "?") {
            plain.target.insert(UInt8(ascii: "/"), at: 0)
        }
        return plain
    }

    private var written: [UInt8] {
        var bytes = Array("\(method) ".utf8) + target
        bytes += Array((version == .http11 ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n").utf8)
        for field in fields { bytes += field[0] + Array(": ".utf8) + field[1] + [13, 10] }
        return bytes + [13, 10] + body
    }
}
