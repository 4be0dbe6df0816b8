import EventLoop
import Locking

/// The service in one process: a loop a core, each with its own thread, listener, routes and store, which share
/// nothing on a request's way; and one loop more, on the main thread, for signals and for those who watch the others.
public final class Service: Sendable {
    /// Makes a loop's store, on that loop's thread.
    public typealias StoreFactory = @Sendable (EventLoop) throws -> any PlaceStore
    /// Makes a loop's store of events, on that loop's thread.
    public typealias EventStoreFactory = @Sendable (EventLoop) throws -> any EventStore

    private let configuration: ServiceConfiguration
    /// The descriptors from this one on are not for clients; nil where the system sets no limit.
    private let maximumDescriptor: Int?
    private let observability: Observability
    private let health: Health
    private let pulses: [LoopPulse]
    private let makeStore: StoreFactory
    private let makeEventStore: EventStoreFactory
    private let limits: SharedLimits

    /// A service that doesn't run yet. Raises the limit of the process's file descriptors as far as it may.
    ///
    /// - Parameter storeConnections: the most connections to databases that the stores of a loop have.
    public init(
        configuration: ServiceConfiguration, observability: Observability, storeConnections: Int,
        makeStore: @escaping StoreFactory, makeEventStore: @escaping EventStoreFactory
    ) {
        (self.configuration, maximumDescriptor) = Self.fitting(
            configuration, storeConnections: storeConnections, observability)
        self.observability = observability
        self.makeStore = makeStore
        self.makeEventStore = makeEventStore
        limits = SharedLimits(configuration)
        pulses = (0..<configuration.loops).map { LoopPulse(name: String($0)) }
        health = Health(requiresDatabase: configuration.readyRequiresDatabase, loops: pulses)
    }

    /// The configuration with as many connections of clients as there are descriptors for, and the first descriptor
    /// that isn't for them.
    private static func fitting(
        _ configuration: ServiceConfiguration, storeConnections: Int, _ observability: Observability
    ) -> (ServiceConfiguration, Int?) {
        guard let limit = DescriptorLimit.raise() else { return (configuration, nil) }
        let loops = configuration.loops
        let room = DescriptorLimit.leftForClients(
            of: limit, loops: loops, storeConnections: storeConnections)
        let wanted = configuration.maxConnectionsPerLoop * loops
        var configuration = configuration
        if wanted > room {
            configuration.maxConnectionsPerLoop = room / loops
            observability.record(
                .connectionsLowered(
                    from: wanted, to: configuration.maxConnectionsPerLoop * loops, descriptors: limit))
        }
        // The system hands out the lowest descriptor that is free, so one this high tells that few are left.
        return (configuration, room + (limit - room) / 2)
    }

    /// Serves until SIGTERM or SIGINT, drains, and returns.
    ///
    /// From the signal on it isn't ready any more, and each answer ends its connection; after the drain delay it
    /// takes no new connection, and finishes what is in flight. A second signal ends the process at once; and soon
    /// after the shutdown time-out it ends by itself, with exit code 0, if something still holds it up. Uses the
    /// calling thread for signals and the admin listener; call it once, from the main thread.
    /// - Parameter onListening: called once every loop listens, with the service's address.
    /// - Throws: `ListeningError` where the address can't be had; what `makeStore` throws.
    public func run(onListening: @escaping @Sendable (String) -> Void) throws {
        let sockets = try bind()
        let adminSocket = try bindAdmin(closingOnFailure: sockets)
        let mainLoop = try EventLoop()
        let threads = try pulses.map { try EventLoopThread.start(name: "poi-loop-\($0.name)") }
        let loops = threads.map(\.loop)
        let failure = Lock<(any Error)?>(nil)
        let url = url(host: configuration.host, port: sockets[0].port)

        mainLoop.execute {
            Task(executorPreference: mainLoop) {
                do {
                    try await self.serve(on: Array(zip(loops, sockets)), mainLoop, adminSocket) {
                        onListening(url)
                    }
                } catch {
                    failure.withLock { $0 = error }
                }
                for loop in loops + [mainLoop] { loop.stop() }
            }
        }
        mainLoop.run()
        for thread in threads { thread.stopAndJoin() }
        if let address = UnixSocketAddress(host: configuration.host) { address.remove() }
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

    /// The socket of the admin listener; nil where there is none.
    private func bindAdmin(closingOnFailure others: [BoundSocket]) throws(ListeningError) -> BoundSocket? {
        guard let port = configuration.admin.port else { return nil }
        do {
            return try BoundSocket.bind(host: configuration.admin.host, port: port)[0]
        } catch {
            for socket in others { socket.close() }
            throw ListeningError(
                address: "\(configuration.admin.host):\(port) (POI_ADMIN_PORT)", reason: "\(error)")
        }
    }

    /// The service's life, on the main thread's loop: start, serve until a signal, finish.
    private func serve(
        on sites: [(loop: EventLoop, socket: BoundSocket)], _ loop: EventLoop, _ adminSocket: BoundSocket?,
        onListening: () -> Void
    ) async throws {
        let signals = try StopSignals(loop: loop)
        let reports = ServiceManager.current.map {
            ServiceManagerReports(loop: loop, health: health, manager: $0)
        }
        var serviceLoops: [LoopBound<ServiceLoop>] = []
        var monitor: LoopBound<HealthMonitor>?
        var admin: AdminServer?
        let result: Result<Void, any Error>
        do {
            for (pulse, (loop, socket)) in zip(pulses, sites) {
                serviceLoops.append(try await start(pulse, on: loop, socket))
            }
            admin = try adminSocket.map { try startAdmin(on: loop, $0, of: serviceLoops) }
            monitor = try await startMonitor(of: serviceLoops, reports.map { LoopBound($0, loop: loop) })
            onListening()
            let signal = await signals.first()
            reports?.stop()
            try await drain(serviceLoops, on: loop, after: signal)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        health.drain()
        await monitor?.onLoop { await $0.stop() }
        await finish(serviceLoops)
        await admin?.shutdown()
        reports?.close()
        signals.close()
        try result.get()
    }

    /// Starts to ask the first loop's store for its health, on that loop.
    private func startMonitor(
        of serviceLoops: [LoopBound<ServiceLoop>], _ reports: LoopBound<ServiceManagerReports>?
    ) async throws -> LoopBound<HealthMonitor> {
        let first = serviceLoops[0]
        return try await first.loop.submit { [self] in
            let monitor = HealthMonitor(
                loop: first.loop, store: first.value.store, events: first.value.events, health: health,
                observability: observability,
                warmUp: { [serviceLoops] in await Self.warmUp(serviceLoops) },
                onReport: { report in
                    reports.map { reports in reports.loop.execute { reports.value.update(report) } }
                })
            monitor.start()
            return LoopBound(monitor, loop: first.loop)
        }
    }

    /// Waits until every loop can take its share of the load.
    private static func warmUp(_ serviceLoops: [LoopBound<ServiceLoop>]) async {
        await withTaskGroup { group in
            for serviceLoop in serviceLoops {
                group.addTask(executorPreference: serviceLoop.loop) { await serviceLoop.value.store.warmUp() }
            }
        }
    }

    /// Serves on for a while as a process that isn't ready, so that balancers and clients go elsewhere.
    private func drain(
        _ serviceLoops: [LoopBound<ServiceLoop>], on loop: EventLoop, after signal: String
    ) async throws {
        let (delay, timeout) = (configuration.lifecycle.drainDelay, configuration.lifecycle.shutdownTimeout)
        health.drain()
        observability.record(.stopping(signal: signal, drainDelay: delay))
        // Where the system gives no thread for it, the end is orderly all the same, only without a bound.
        try? HardEnd.arm(after: delay + timeout)
        for serviceLoop in serviceLoops {
            try await serviceLoop.loop.submit { serviceLoop.value.endKeepAlive() }
        }
        await loop.sleep(for: delay)
        observability.record(.finishing)
    }

    private func start(
        _ pulse: LoopPulse, on loop: EventLoop, _ socket: BoundSocket
    ) async throws -> LoopBound<ServiceLoop> {
        try await loop.submit { [self] in
            let serviceLoop = try ServiceLoop(
                pulse: pulse, loop: loop, socket: socket, store: try makeStore(loop),
                events: try makeEventStore(loop), health: health,
                observability: observability, configuration: configuration, limits: limits,
                maximumDescriptor: maximumDescriptor)
            return LoopBound(serviceLoop, loop: loop)
        }
    }

    private func startAdmin(
        on loop: EventLoop, _ socket: BoundSocket, of serviceLoops: [LoopBound<ServiceLoop>]
    ) throws -> AdminServer {
        let metrics = MetricsCollector(
            loops: serviceLoops, health: health, observability: observability,
            connectionsLimit: configuration.maxConnectionsPerLoop * configuration.loops,
            bodyBudget: limits.bodyBudget)
        let admin = try AdminServer(
            loop: loop, socket: socket, health: health, metrics: metrics, observability: observability)
        observability.record(.adminListening(url: url(host: configuration.admin.host, port: socket.port)))
        return admin
    }

    /// Answers what is in flight, on every loop at once.
    private func finish(_ serviceLoops: [LoopBound<ServiceLoop>]) async {
        let deadline = configuration.lifecycle.shutdownTimeout
        let cutOffCount = await withTaskGroup(of: Int.self) { group in
            for serviceLoop in serviceLoops {
                group.addTask(executorPreference: serviceLoop.loop) {
                    await serviceLoop.value.shutdown(deadline: deadline)
                }
            }
            return await group.reduce(0, +)
        }
        if cutOffCount > 0 { observability.record(.cutOff(connections: cutOffCount)) }
    }

    private func url(host: String, port: Int) -> String {
        if host.hasPrefix("unix:") { return host }
        return host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
    }
}

/// An address that the service can't listen on, as one line for the person who chose it.
public struct ListeningError: Error, Hashable, CustomStringConvertible {
    let address: String
    let reason: String

    /// Says which address it is and why it can't be had.
    package init(address: String, reason: String) {
        self.address = address
        self.reason = reason
    }

    /// The line: the address and why it can't be had.
    public var description: String { "can't listen on \(address): \(reason)" }
}
