import EventLoop
import HTTPServer
import Locking
import Loopback
import Testing

/// A server with a handful of routes, on a loop of its own.
struct WireServer: Sendable {
    let port: Int
    /// `/gated` waits here.
    let gate = Gate()
    /// `/gated` comes by here when its handler has returned, cancelled or not.
    let returned = Gate()
    let observations = Lock<[RequestObservation]>([])
    /// How often a handler was called.
    let calls = Lock(0)
    /// Whether the task of the last `/gated` was cancelled.
    let wasCancelled = Lock(false)

    static let bigBody = [UInt8](repeating: UInt8(ascii: "b"), count: 16 << 20)

    private let thread: EventLoopThread
    private let server: LoopBound<HTTPServer>

    /// Runs `body` beside a server, ends it, and expects that every handle was closed.
    static func run(
        _ configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        inFlightLimit: Int = 1000,
        _ body: (WireServer) async throws -> Void
    ) async throws {
        let server = try await WireServer(configuration, inFlightLimit: inFlightLimit)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(server))
        } catch {
            result = .failure(error)
        }
        server.gate.open()
        server.returned.open()
        await server.shutdown(timeout: .zero)
        #expect(server.thread.stopAndJoin() == 0, "handles were left open")
        try result.get()
    }

    private init(_ configuration: HTTPServerConfiguration, inFlightLimit: Int) async throws {
        let thread = try EventLoopThread.start(name: "wire-server")
        self.thread = thread
        let (gate, returned, calls, wasCancelled) = (gate, returned, calls, wasCancelled)
        let observations = observations
        (server, port) = try await thread.loop.submit {
            let router = Self.router(
                inFlightLimit: inFlightLimit, gate: gate, returned: returned, calls: calls,
                wasCancelled: wasCancelled)
            let server = HTTPServer(
                loop: thread.loop, configuration: configuration, dispatcher: router,
                observe: { observation in observations.withLock { $0.append(observation) } })
            try server.start(on: BoundSocket.bind(host: "127.0.0.1", port: 0)[0])
            return (LoopBound(server, loop: thread.loop), server.port ?? 0)
        }
    }

    /// Ends the server gracefully.
    func shutdown(timeout: Duration) async {
        let server = server
        await Task(executorPreference: thread.loop) { _ = await server.value.shutdown(timeout: timeout) }
            .value
    }

    /// Begins to end the server, and comes back at once.
    ///
    /// - Parameter before: what happens right before, without the server's loop looking.
    func beginShutdown(before: @escaping @Sendable () throws -> Void = {}) async throws {
        let server = server
        try await thread.loop.submit {
            try before()
            server.value.shutdown(timeout: .seconds(60)) {}
        }
    }

    /// Runs `work` on the loop's thread: what clients send meanwhile has all arrived when the server looks again.
    func withoutLooking(_ work: @escaping @Sendable () throws -> Void) async throws {
        try await thread.loop.submit(work)
    }

    /// A client whose bytes are there when the server accepts it, so that no deadline of the server's is before them.
    func connect(sending text: String) async throws -> WireClient {
        let port = port
        return try await thread.loop.submit {
            let client = try WireClient(port: port)
            client.send(text)
            return client
        }
    }

    func acceptFailureCount() async throws -> Int {
        let server = server
        return try await thread.loop.submit { server.value.acceptFailureCount }
    }

    func connectionCount() async throws -> Int {
        let server = server
        return try await thread.loop.submit { server.value.connectionCount }
    }

    /// Waits until no connection is open.
    func closesConnections() async throws {
        while try await connectionCount() > 0 { try Task.checkCancellation() }
    }

    private static func router(
        inFlightLimit: Int, gate: Gate, returned: Gate, calls: Lock<Int>, wasCancelled: Lock<Bool>
    ) -> HTTPRouter {
        let router = HTTPRouter()
        let limit = InFlightLimit(inFlightLimit, retryAfterSeconds: 7)
        router.add(.get, "/hello") { _, _ in
            calls.withLock { $0 += 1 }
            return .text(.ok, "hello")
        }
        router.add(.get, "/now", FixedResponse(.text(.ok, "now")))
        router.add(.get, "/now/{id}", NoteHandler())
        router.add(.post, "/echo", maximumBodyBytes: 1 << 20) { request, _ in
            HTTPResponse(.ok, headers: [.contentType: "application/octet-stream"], body: request.body)
        }
        router.add(.post, "/limited", checks: [limit], maximumBodyBytes: 100) { request, _ in
            HTTPResponse(.ok, body: request.body)
        }
        router.add(.get, "/gated", checks: [limit]) { _, _ in
            await gate.pass()
            wasCancelled.withLock { $0 = Task.isCancelled }
            Task { await returned.pass() }
            return .text(.ok, "gated")
        }
        router.add(.get, "/busy", BusyHandler())
        router.add(.get, "/big") { _, _ in
            calls.withLock { $0 += 1 }
            return HTTPResponse(.ok, body: bigBody)
        }
        addWriters(to: router, gate: gate)
        router.add(.get, "/fails") { _, _ in throw EventLoopError(code: -1) }
        router.add(.get, "/closes") { _, _ in
            HTTPResponse(.ok, headers: [.connection: "close", "X-Split": "a\r\nb: c\0"], body: [33])
        }
        router.add(.get, "/items/{id}") { _, context in .text(.ok, context.pathParameter("id") ?? "none") }
        return router
    }

    private typealias Write = @Sendable ([UInt8], [UInt8], ([UInt8]) -> Void) async throws -> Void

    /// Responses that are written by their handlers.
    private static func addWriters(to router: HTTPRouter, gate: Gate) {
        func add(
            _ path: String, _ body: [UInt8] = Array("0123456789".utf8),
            _ write: @escaping Write
        ) {
            router.add(.get, path) { _, _ in
                var response = HTTPResponse(.ok, body: body)
                response.write(by: write)
                return response
            }
        }
        add("/cut") { head, body, send in send(head + body.prefix(4)) }
        add("/withheld") { _, _, _ in throw CancellationError() }
        add("/pieces", bigBody) { head, body, send in
            send(head + body.prefix(10 << 20))
            await gate.pass()
            send(Array(body.dropFirst(10 << 20)))
        }
        add("/unfinished") { head, body, send in
            send(head + body.prefix(5))
            for await _ in AsyncStream<Never>(Never.self, { _ in }) {}
        }
    }
}

/// Keeps the loop busy for longer than a client has of a turn.
private struct BusyHandler: ImmediateHandler {
    func response(to request: HTTPRequest, context: RequestContext) -> HTTPResponse {
        let end = MonotonicClock.nanoseconds() + 2_000_000
        while MonotonicClock.nanoseconds() < end {}
        return .text(.ok, "busy")
    }
}

/// Responds at once, and leaves all that a handler can leave in a context.
private struct NoteHandler: ImmediateHandler {
    func response(to request: HTTPRequest, context: RequestContext) -> HTTPResponse {
        context.logNotes.append(("note", context.pathParameter("id") ?? ""))
        context.responseFields = ["X-Note": "noted"]
        return .text(.ok, "noted")
    }
}

/// A gate between a test and a handler: the handler says that it has come, and waits to be let through.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watching: [(arrivals: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Lock(State())

    /// Comes to the gate and waits until it is open. Cancellation doesn't open it.
    func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, watchers) = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiting.append(continuation) }
                let arrivals = state.arrivals
                let watchers = state.watching.filter { $0.arrivals <= arrivals }
                state.watching.removeAll { $0.arrivals <= arrivals }
                return (state.isOpen, watchers)
            }
            for watcher in watchers { watcher.continuation.resume() }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits until so many have come.
    func arrivals(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivals >= count { return true }
                state.watching.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets all through, now and later.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
