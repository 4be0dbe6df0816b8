import EventLoop

/// The service in one process: a loop a core, each with its own listener, routes and store, which share
/// nothing on a request's way.
public final class Service: Sendable {
    /// Makes a loop's store, on that loop's thread.
    public typealias StoreFactory = @Sendable (EventLoop) throws -> any LocationStore
    /// Makes a loop's store of events, on that loop's thread.
    public typealias EventStoreFactory = @Sendable (EventLoop) throws -> any EventStore

    private let configuration: ServiceConfiguration
    private let observability: Observability
    private let health: Health
    private let makeStore: StoreFactory
    private let makeEventStore: EventStoreFactory
    private let rateLimiter: RateLimiter?

    /// A service that doesn't run yet.
    public init(
        configuration: ServiceConfiguration, observability: Observability, makeStore: @escaping StoreFactory,
        makeEventStore: @escaping EventStoreFactory
    ) {
        self.configuration = configuration
        self.observability = observability
        self.makeStore = makeStore
        self.makeEventStore = makeEventStore
        rateLimiter = configuration.access.rateLimit.map { RateLimiter($0) }
        health = Health(requiresDatabase: configuration.readyRequiresDatabase)
    }

    /// Serves until SIGTERM or SIGINT, finishes what is in flight, and returns.
    ///
    /// Uses the calling thread as the first loop's; call it once, from the main thread. A second signal
    /// ends the process at once.
    /// - Parameter onListening: called once every loop listens, with the service's address.
    /// - Throws: `ListeningError` where the address can't be had; what `makeStore` throws.
    public func run(onListening: @escaping @Sendable (String) -> Void) throws {
        let sockets = try bind()
        let mainLoop = try EventLoop()
        let threads = try (1..<configuration.loops).map { try EventLoopThread.start(name: "poi-loop-\($0)") }
        let loops = [mainLoop] + threads.map(\.loop)
        let failure = Lock<(any Error)?>(nil)
        let url = url(port: sockets[0].port)

        mainLoop.execute {
            Task(executorPreference: mainLoop) {
                do {
                    try await self.serve(on: Array(zip(loops, sockets))) { onListening(url) }
                } catch {
                    failure.withLock { $0 = error }
                }
                for loop in loops { loop.stop() }
            }
        }
        mainLoop.run()
        for thread in threads { thread.stopAndJoin() }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func bind() throws(ListeningError) -> [BoundSocket] {
        do {
            return try BoundSocket.bind(
                host: configuration.host, port: configuration.port, count: configuration.loops)
        } catch {
            throw ListeningError(address: "\(configuration.host):\(configuration.port)", reason: "\(error)")
        }
    }

    /// The service's life, on the first loop: start, serve until a signal, finish.
    private func serve(
        on sites: [(loop: EventLoop, socket: BoundSocket)], onListening: () -> Void
    ) async throws {
        let signals = try StopSignals(loop: sites[0].loop)
        var serviceLoops: [LoopBound<ServiceLoop>] = []
        var monitor: HealthMonitor?
        let result: Result<Void, any Error>
        do {
            for (loop, socket) in sites { serviceLoops.append(try await start(on: loop, socket)) }
            monitor = HealthMonitor(
                loop: sites[0].loop, store: serviceLoops[0].value.store, health: health,
                observability: observability)
            monitor?.start()
            onListening()
            observability.record(.stopping(signal: await signals.first()))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        health.drain()
        await monitor?.stop()
        await finish(serviceLoops)
        signals.close()
        try result.get()
    }

    private func start(on loop: EventLoop, _ socket: BoundSocket) async throws -> LoopBound<ServiceLoop> {
        try await loop.submit { [self] in
            let serviceLoop = try ServiceLoop(
                loop: loop, socket: socket, store: try makeStore(loop), events: try makeEventStore(loop),
                health: health,
                observability: observability, configuration: configuration, rateLimiter: rateLimiter)
            return LoopBound(serviceLoop, loop: loop)
        }
    }

    /// Answers what is in flight, on every loop at once.
    private func finish(_ serviceLoops: [LoopBound<ServiceLoop>]) async {
        let deadline = configuration.shutdownTimeout
        await withTaskGroup(of: Void.self) { group in
            for serviceLoop in serviceLoops {
                group.addTask(executorPreference: serviceLoop.loop) {
                    await serviceLoop.value.shutdown(deadline: deadline)
                }
            }
        }
    }

    private func url(port: Int) -> String {
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        return "http://\(host):\(port)"
    }
}
