import Loopback
import WireCases

@testable import EventLoop
@testable import HTTPServer

/// The server that the table of wire cases speaks of, without a listener: each exchange is a connection of its own, which
/// gets its bytes as its stream would hand them over, and writes into a pair of sockets.
///
/// Nothing waits, since every handler responds at once. Confined to its loop.
struct TableServer {
    /// What came back over a connection.
    struct Outcome: Equatable {
        var bytes: [UInt8] = []
        var connection = WireCase.Connection.closed
        /// Number of requests that the server has logged.
        var logged = 0
    }

    private let loop: EventLoop
    private let environment: HTTPServerEnvironment
    private let log = Log()

    private final class Log {
        var count = 0
    }

    /// Small, so that what is longer fits into a line of the table.
    private static let limits = HTTPLimits(
        requestLineBytes: 100, headerBlockBytes: 200, bodyBytes: 64, chunkLineBytes: 32,
        chunkExtensionBytes: 40, requestsInARow: .max)

    init(loop: EventLoop) {
        self.loop = loop
        let router = HTTPRouter()
        for template in ["/", "/a", "/b", "/items/{id}"] { router.add(.get, template, Mirror()) }
        router.add(.post, "/a", maximumBodyBytes: 64, Mirror())
        router.add(.post, "/small", maximumBodyBytes: 10, Mirror())
        router.add(.get, "/tagged", TaggedPage())
        environment = HTTPServerEnvironment(
            loop: loop, configuration: HTTPServerConfiguration(limits: Self.limits),
            dispatcher: NotingDispatcher(router: router),
            errorResponder: PlainTextErrorResponder(), observe: { [log] _ in log.count += 1 })
    }

    /// Sends pieces over a new connection, each as if it had been read at once.
    ///
    /// - Parameter event: what happens behind the last of them.
    func exchange(
        _ pieces: [ArraySlice<UInt8>], then event: HTTPConnectionStateMachine.Event? = nil
    ) throws -> Outcome {
        let pair = try SocketPair()
        defer { pair.close() }
        let stream = try TCPStream(loop: loop)
        guard stream.adopt(pair.ours) else { throw EventLoopError.lastSystemError }
        let connection = HTTPConnection(stream: stream, environment: environment, isRefused: false) { _ in }
        log.count = 0
        connection.start()
        for piece in pieces { stream.onRead?(piece.span.bytes) }
        if let event { connection.process(event) }
        connection.flush()
        let outcome = Outcome(
            bytes: pair.received(), connection: Self.connection(connection), logged: log.count)
        connection.close()
        return outcome
    }

    private static func connection(_ connection: HTTPConnection) -> WireCase.Connection {
        switch connection.state.value.actions.machine.state {
        case .created, .waiting: .open
        case .readingHead, .readingBody, .handling, .yielding: .waits
        case .writing, .lingering, .closed: .closed
        }
    }
}

/// Gives each response the field `Note` of its request, as the service does with those for other origins.
private struct NotingDispatcher: HTTPDispatcher {
    let router: HTTPRouter

    func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        if let note = request.headers.first("Note") { context.responseFields = ["Note": note] }
        return try router.admit(request, context: context)
    }
}

/// Responds with the request as the server has read it: method, path and query, the fields named `X`, the body.
private struct Mirror: ImmediateHandler {
    func response(to request: HTTPRequest, context: RequestContext) -> HTTPResponse {
        let id = context.pathParameter("id").map { " id=\($0)" } ?? ""
        let query = request.query.map { "?\($0)" } ?? ""
        let fields = request.headers.all("X").map { " [\($0)]" }.joined()
        let text = "\(request.method) \(request.path)\(query)\(id)\(fields)"
        let body = request.body.isEmpty ? [] : [ASCII.space] + request.body
        return HTTPResponse(
            .ok, headers: [.contentType: "text/plain; charset=utf-8"],
            body: Array(text.utf8) + body + [ASCII.lineFeed])
    }
}

/// A page with an entity tag, which meets conditions as the service does.
private struct TaggedPage: ImmediateHandler {
    private static let tag = EntityTag(hash: 0)

    func response(to request: HTTPRequest, context: RequestContext) throws -> HTTPResponse {
        guard request.headers.ifMatchHolds else { throw HTTPError.preconditionFailed }
        if request.headers.ifNoneMatchNames(Self.tag) {
            return HTTPResponse(.notModified, headers: [.eTag: Self.tag.fieldValue])
        }
        return HTTPResponse(
            .ok, headers: [.contentType: "text/plain; charset=utf-8", .eTag: Self.tag.fieldValue],
            body: Array("tagged\n".utf8))
    }
}
