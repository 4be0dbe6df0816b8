import Loopback

@testable import EventLoop
@testable import HTTPServer

/// A client's bytes to a whole connection: the parser, the state machine, and the connection that joins them.
///
/// The parser reads the same however the bytes are split, stays within its limits and stays failed once it has failed, and
/// a request that it accepts reads the same when it is written anew. The connection has a response for each of these
/// requests, at most one error behind them, and no other response, and this too however the bytes are split.
func fuzzConnection(_ input: [UInt8]) {
    let reading = ParserReading([input])
    for request in reading.requests { request.check() }
    let expected = Responses(to: reading)
    let splits = [[input], input.pieces, input.map { [$0] }]
    let outputs = LoopThread.only.run { splits.map { FuzzedServer.only.value.exchange($0) } }
    for (pieces, output) in zip(splits, outputs) {
        let split = ParserReading(pieces)
        require(
            split == reading, "read differently in \(pieces.count) pieces: \(split), as a whole: \(reading)")
        let responses = Responses(output, to: reading)
        require(responses == expected, "in \(pieces.count) pieces: \(responses), but expected: \(expected)")
    }
}

/// What comes back over a connection.
private struct Responses: Equatable {
    private var complete: [Response] = []
    /// The status of the error that ends the connection.
    private var error: Int?
    /// How often `100 Continue` was sent.
    private var continues = 0

    private struct Response: Equatable {
        var status: Int
        var body: [UInt8]
    }

    /// What follows from what the parser reads.
    init(to reading: ParserReading) {
        continues = reading.expectedContinues
        complete = reading.served.map { Response(status: 200, body: $0.method == "HEAD" ? [] : $0.echo) }
        guard reading.served.count == reading.requests.count, reading.served.last?.keepsAlive != false else {
            return
        }
        switch reading.end {
        case .idle: break
        case .failed(let failure): error = Int(failure.status.code)
        // The client ends its side behind the last byte.
        case .insideRequest: error = 400
        }
    }

    /// Reads them from a connection's bytes. An error may be without a body, so it has to be the last.
    init(_ bytes: [UInt8], to reading: ParserReading) {
        var rest = bytes[...]
        var methods = reading.served.map(\.method)[...]
        while !rest.isEmpty {
            let end = rest.indices.first { rest[$0...].starts(with: [13, 10, 13, 10]) }
            guard let end else { fatalError("not a response: \(Array(rest).text)") }
            let head = Array(rest[..<end]).text.split(separator: "\r\n")
            rest = rest[(end + 4)...]
            guard let line = head.first, line.hasPrefix("HTTP/1.1 "),
                let status = Int(line.dropFirst(9).prefix(3))
            else { fatalError("not a response: \(bytes.text)") }
            if status == 100 {
                continues += 1
            } else if let method = methods.popFirst() {
                let length =
                    head.first { $0.hasPrefix("Content-Length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
                let body = rest.prefix(method == "HEAD" ? 0 : length)
                complete.append(Response(status: status, body: Array(body)))
                rest = rest.dropFirst(body.count)
            } else {
                require(
                    error == nil && !rest.starts(with: Array("HTTP/1.1 ".utf8)),
                    "too many responses: \(bytes.text)")
                error = status
                rest = []
            }
        }
    }
}

/// A server without a listener, which responds to every request with what it has read.
///
/// Each exchange is a connection of its own, which gets its bytes as its stream would hand them over, and writes into a
/// pair of sockets. Nothing waits. Confined to its loop.
struct FuzzedServer {
    /// Limits that inputs of a few hundred bytes reach.
    static let limits = HTTPLimits(
        requestLineBytes: 100, headerBlockBytes: 300, bodyBytes: 60, chunkLineBytes: 20,
        chunkExtensionBytes: 30,
        leadingEmptyLines: 2, requestsInARow: .max)

    /// Made on its loop.
    static let only = LoopBound(FuzzedServer(loop: LoopThread.only.loop), loop: LoopThread.only.loop)

    private let loop: EventLoop
    private let environment: HTTPServerEnvironment

    private init(loop: EventLoop) {
        self.loop = loop
        environment = HTTPServerEnvironment(
            loop: loop, configuration: HTTPServerConfiguration(limits: Self.limits),
            dispatcher: EchoDispatcher(),
            errorResponder: PlainTextErrorResponder(), observe: nil)
    }

    /// Sends pieces over a new connection, each as if it had been read at once, then the client's end.
    ///
    /// - Returns: all that comes back.
    func exchange(_ pieces: [[UInt8]]) -> [UInt8] {
        guard let pair = try? SocketPair(), let stream = try? TCPStream(loop: loop), stream.adopt(pair.ours)
        else {
            fatalError("no pair of sockets")
        }
        defer { pair.close() }
        let connection = HTTPConnection(stream: stream, environment: environment, isRefused: false) { _ in }
        connection.start()
        for piece in pieces { stream.onRead?(piece.span.bytes) }
        stream.onEnd?()
        connection.flush()
        let output = pair.received()
        connection.close()
        return output
    }
}

private struct EchoDispatcher: HTTPDispatcher {
    func admit(_ request: HTTPRequest, context: RequestContext) -> HTTPAdmission {
        HTTPAdmission(EchoHandler(), maximumBodyBytes: FuzzedServer.limits.bodyBytes)
    }
}

private struct EchoHandler: ImmediateHandler {
    func response(to request: HTTPRequest, context: RequestContext) -> HTTPResponse {
        HTTPResponse(.ok, body: request.echo)
    }
}

extension HTTPRequest {
    /// All that a handler sees of a request, as a response's body.
    var echo: [UInt8] {
        let fields = headers.map { "\($0.name): \($0.value)\n" }.joined()
        return Array("\(method.rawValue) \(path)?\(query ?? "none")\n\(fields)\n".utf8) + body
    }
}
