import EventLoop
import HTTPServer
import PointsOfInterestAPI
import POIService
import Program
import Telemetry

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The service over fixtures, on one loop: what `poi-mock` runs.
package struct MockServer: Sendable {
    private let configuration: MockConfiguration
    private let observability: Observability
    private let endsWithStandardInput: Bool

    /// Makes a mock that doesn't run yet.
    ///
    /// - Parameter endsWithStandardInput: whether it also ends when its standard input does, so that it never outlives
    ///   the process that started it.
    package init(
        configuration: MockConfiguration, observability: Observability, endsWithStandardInput: Bool
    ) {
        self.configuration = configuration
        self.observability = observability
        self.endsWithStandardInput = endsWithStandardInput
    }

    /// Serves until SIGTERM or SIGINT, finishes what is in flight, and returns.
    ///
    /// Call it once, from the main thread, on which the loop runs.
    ///
    /// - Parameter onListening: called with the mock's address once it listens.
    /// - Throws: `ListeningError` if it can't listen on the address; `EventLoopError` if the system refuses a loop or
    ///   a signal handler.
    package func run(onListening: @escaping @Sendable (MockAddress) -> Void) throws {
        let socket = try BoundSocket.listening(
            host: configuration.service.host, port: configuration.service.port)[0]
        try EventLoop.runToCompletion { loop in
            let signals = try StopSignals(loop: loop)
            defer { signals.close() }
            let health = Health(requiresDatabase: false)
            _ = health.update(.reachable(missingMigrations: []))
            let handler = makeHandler(on: loop, health)
            let server = makeServer(on: loop, handler)
            try server.start(on: socket)
            let address = MockAddress(host: configuration.service.host, port: socket.port)
            observability.record(.listening(url: address.url))
            onListening(address)
            if endsWithStandardInput {
                StandardInput.whenClosed(on: loop) { signals.ask("standard input has ended") }
            }
            observability.record(.stopping(signal: await signals.first(), drainDelay: .zero))
            health.drain()
            handler.drain()
            await server.shutdown(timeout: configuration.service.lifecycle.shutdownTimeout)
        }
        observability.record(.stopped)
    }

    private var errorResponder: MockErrorResponder {
        MockErrorResponder(service: ProblemResponder(observability: observability))
    }

    private func makeHandler(on loop: EventLoop, _ health: Health) -> MockDispatcher {
        let (service, observability) = (configuration.service, observability)
        return MockDispatcher(
            loop: loop, fixtures: configuration.fixtures, scenario: configuration.scenario,
            maximumSessionCount: configuration.maximumSessionCount, errorResponder: errorResponder
        ) { fixtures in
            ServiceDispatcher(
                store: fixtures.makeStore(on: loop), events: MemoryEventStore(), health: health,
                configuration: service, errorResponder: ProblemResponder(observability: observability),
                observability: observability,
                rateLimiter: service.access.rateLimit.map { RateLimiter($0) })
        }
    }

    private func makeServer(on loop: EventLoop, _ handler: MockDispatcher) -> HTTPServer {
        let (observability, client) = (observability, configuration.service.logClient)
        return HTTPServer(
            loop: loop,
            configuration: HTTPServerConfiguration(
                configuration.service, limits: SharedLimits(configuration.service)),
            dispatcher: handler,
            errorResponder: errorResponder,
            observe: observability.observesRequests ? { observability.record($0, client: client) } : nil)
    }
}

/// The address on which a mock listens.
package struct MockAddress: Hashable, Sendable {
    /// The address that was configured.
    let host: String
    /// The port, which the system may have chosen.
    let port: Int

    /// The base URL of its service.
    package var url: String { Service.url(host: host, port: port) }

    /// One line of JSON for the program that started the mock: `{"port":49152,"url":"http://127.0.0.1:49152"}`.
    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("port", port)
        writer.member("url", url)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// Watches for the end of the program's standard input.
private enum StandardInput {
    /// Reads standard input to its end on a thread of its own, then runs `body` on the loop.
    ///
    /// It takes a thread, because standard input may be a file, which no loop can watch (epoll_ctl(2), `EPERM`).
    static func whenClosed(on loop: EventLoop, _ body: @escaping () -> Void) {
        let work = LoopBound(body, loop: loop)
        let thread = BlockingThread(name: "mock-stdin", capacity: 1)
        Task(executorPreference: loop) {
            // If the system refuses a thread, the mock ends now: one that never ends would be worse.
            try? await thread.run { readToEnd() }
            work.value()
        }
    }

    private static func readToEnd() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count == 0 || (count < 0 && errno != EINTR) { return }
        }
    }
}
