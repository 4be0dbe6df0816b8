import Loopback

@testable import EventLoop
@testable import HTTPServer

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
        for piece in pieces { piece.withUnsafeBytes { stream.onRead?($0) } }
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
