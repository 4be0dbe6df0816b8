import EventLoop
import HTTPServer
import PointsOfInterestAPI
import POIService

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The service over fixtures, on one loop of its own: what `poi-mock` runs.
package struct MockServer: Sendable {
    private let configuration: MockConfiguration
    private let observability: Observability
    private let endsWithStandardInput: Bool

    /// A mock that doesn't run yet.
    ///
    /// - Parameter endsWithStandardInput: whether it also ends when whoever started it closes its standard input,
    ///   however that one ended.
    package init(
        configuration: MockConfiguration, observability: Observability, endsWithStandardInput: Bool
    ) {
        self.configuration = configuration
        self.observability = observability
        self.endsWithStandardInput = endsWithStandardInput
    }

    /// Serves until SIGTERM or SIGINT, finishes what is in flight, and returns.
    ///
    /// To be called once, from the main thread, whose loop it is.
    /// - Parameter onListening: called once it listens, with its address.
    /// - Throws: `ListeningError` where the address can't be had.
    package func run(onListening: @escaping @Sendable (MockAddress) -> Void) throws {
        let socket = try bind()
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
            await server.shutdown(deadline: configuration.service.lifecycle.shutdownTimeout)
        }
        observability.record(.stopped)
    }

    private func bind() throws(ListeningError) -> BoundSocket {
        let (host, port) = (configuration.service.host, configuration.service.port)
        do {
            return try BoundSocket.bind(host: host, port: port)[0]
        } catch {
            throw ListeningError(address: "\(host):\(port)", reason: "\(error)")
        }
    }

    private var errorResponder: MockErrorResponder {
        MockErrorResponder(service: ProblemResponder(observability: observability))
    }

    private func makeHandler(on loop: EventLoop, _ health: Health) -> MockHandler {
        let (service, observability) = (configuration.service, observability)
        return MockHandler(
            loop: loop, fixtures: configuration.fixtures,
            maximumSessionCount: configuration.maximumSessionCount, errorResponder: errorResponder
        ) { fixtures in
            ServiceHandler(
                store: fixtures.makeStore(), events: MemoryEventStore(), health: health,
                configuration: service, errorResponder: ProblemResponder(observability: observability),
                observability: observability,
                rateLimiter: service.access.rateLimit.map { RateLimiter($0) })
        }
    }

    private func makeServer(on loop: EventLoop, _ handler: MockHandler) -> HTTPServer {
        let observability = observability
        return HTTPServer(
            loop: loop,
            configuration: HTTPServerConfiguration(
                configuration.service, limits: SharedLimits(configuration.service)),
            dispatcher: handler,
            errorResponder: errorResponder,
            observe: observability.observesRequests ? { observability.record(.request($0)) } : nil)
    }
}

/// Where a mock listens.
package struct MockAddress: Hashable, Sendable {
    /// The address that it was told to listen on.
    let host: String
    /// The port, also where the system chose it.
    let port: Int

    /// The base URL of its service.
    package var url: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// One line of JSON for whoever started the mock: `{"port":49152,"url":"http://127.0.0.1:49152"}`.
    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("port", port)
        writer.member("url", url)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// The program's standard input, of which only the end is of interest.
enum StandardInput {
    /// Reads it to its end on a thread of its own, which lasts until then, and tells the loop of that.
    ///
    /// A thread, because it may be a file, which no loop can watch (epoll_ctl(2), `EPERM`).
    static func whenClosed(on loop: EventLoop, _ body: @escaping () -> Void) {
        let work = LoopBound(body, loop: loop)
        let thread = BlockingThread(name: "mock-stdin", capacity: 1)
        Task(executorPreference: loop) {
            // Where the system gives no thread nobody can wait, and a mock that stayed for ever would be worse.
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
