import CSystem
import EventLoop
import HTTPServer
import Locking
import Places
import PointsOfInterestAPI
import Program
import Telemetry

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The service in one process. Each service loop has its own thread, listener, routes and stores, so that requests share
/// nothing. One more loop runs on the main thread; it handles signals and the admin listener, and watches the service loops.
package final class Service: Sendable {
    package typealias StoreFactory = @Sendable (EventLoop) throws -> any PlaceStore
    package typealias EventStoreFactory = @Sendable (EventLoop) throws -> any EventStore
    package typealias EditStoreFactory = @Sendable (EventLoop) throws -> any EditStore & ReportStore

    private let configuration: ServiceConfiguration
    /// The first file descriptor that isn't for clients' connections; nil if the process's limit can't be read.
    private let maximumDescriptor: Int?
    private let observability: Observability
    private let health: Health
    private let pulses: [LoopPulse]
    private let makeStore: StoreFactory
    private let makeEventStore: EventStoreFactory
    private let makeEditStore: EditStoreFactory?
    private let limits: SharedLimits

    /// Raises the process's limit of file descriptors as far as it may.
    package init(
        configuration: ServiceConfiguration, observability: Observability, storeConnections: Int,
        makeStore: @escaping StoreFactory, makeEventStore: @escaping EventStoreFactory,
        makeEditStore: EditStoreFactory? = nil
    ) {
        (self.configuration, maximumDescriptor) = Self.fitting(
            configuration, storeConnections: storeConnections, observability)
        self.observability = observability
        self.makeStore = makeStore
        self.makeEventStore = makeEventStore
        let isNeeded = configuration.editing.access != nil || configuration.reports.isOn
        self.makeEditStore = isNeeded ? makeEditStore : nil
        limits = SharedLimits(configuration)
        pulses = (0..<configuration.loops).map { LoopPulse(name: String($0)) }
        health = Health(requiresDatabase: configuration.readyRequiresDatabase, loops: pulses)
    }

    /// Lowers the maximum number of clients' connections if there are too few file descriptors for it. Also returns the
    /// first descriptor that isn't for clients.
    private static func fitting(
        _ configuration: ServiceConfiguration, storeConnections: Int, _ observability: Observability
    ) -> (ServiceConfiguration, Int?) {
        guard let limit = DescriptorLimit.raise() else { return (configuration, nil) }
        let loops = configuration.loops
        let room = DescriptorLimit.leftForClients(of: limit, loops: loops, storeConnections: storeConnections)
        let wanted = configuration.maxConnectionsPerLoop * loops
        var configuration = configuration
        if wanted > room {
            configuration.maxConnectionsPerLoop = room / loops
            observability.record(
                .connectionsLowered(
                    from: wanted, to: configuration.maxConnectionsPerLoop * loops, descriptors: limit))
        }
        // The system assigns the lowest free descriptor, so a descriptor this high means that few are left.
        return (configuration, room + (limit - room) / 2)
    }

    /// Serves until a signal of `StopSignals` (SIGTERM, SIGINT, or SIGHUP unless it is ignored), drains, and returns.
    ///
    /// From the signal on it isn't ready any more, and each response closes its connection. After the drain delay it
    /// accepts no new connections and finishes the requests in flight. A second SIGTERM or SIGINT ends the process at
    /// once. If something still blocks the end two seconds after the shutdown timeout, the process exits with code 0.
    ///
    /// Call it once, from the main thread, which it uses for signals and the admin listener.
    /// - Parameter onReady: called once, on some loop, when the process is ready for the first time.
    package func run(
        onListening: @escaping @Sendable (String) -> Void,
        onReady: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        let sockets = try BoundSocket.listening(
            host: configuration.host, port: configuration.port, count: configuration.loops,
            permissions: configuration.socketPermissions)
        let adminSocket = try bindAdmin(closingOnFailure: sockets)
        let mainLoop = try EventLoop()
        let threads = try pulses.map { try EventLoopThread.start(name: "poi-loop-\($0.name)") }
        let loops = threads.map(\.loop)
        let failure = Lock<(any Error)?>(nil)
        let url = Self.url(host: configuration.host, port: sockets[0].port)

        mainLoop.execute {
            Task(executorPreference: mainLoop) {
                do {
                    try await self.serve(
                        on: Array(zip(loops, sockets)), mainLoop, adminSocket,
                        onListening: { onListening(url) },
                        onReady: { onReady(url) })
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

    private func bindAdmin(closingOnFailure others: [BoundSocket]) throws(ListeningError) -> BoundSocket? {
        guard let port = configuration.admin.port else { return nil }
        do {
            return try BoundSocket.listening(
                host: configuration.admin.host, port: port, settings: (.adminHost, .adminPort))[0]
        } catch {
            for socket in others { socket.close() }
            throw error
        }
    }

    private func serve(
        on sites: [(loop: EventLoop, socket: BoundSocket)], _ loop: EventLoop, _ adminSocket: BoundSocket?,
        onListening: () -> Void, onReady: @escaping @Sendable () -> Void
    ) async throws {
        let signals = try StopSignals(loop: loop)
        let reload = try reloadsEditors(on: loop)
        let freedMemory = FreedMemory(loop: loop, memory: limits.memory)
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
            monitor = try await startMonitor(
                of: serviceLoops, reports.map { LoopBound($0, loop: loop) }, onReady: onReady)
            onListening()
            let signal = await signals.first()
            reports?.stop()
            await drain(serviceLoops, on: loop, after: signal)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        health.drain()
        await monitor?.onLoop { await $0.stop() }
        await finish(serviceLoops)
        await admin?.shutdown()
        reports?.close()
        freedMemory.close()
        reload?.close()
        signals.close()
        try result.get()
    }

    /// Reads the file of editors again on SIGHUP, where there is one.
    private func reloadsEditors(on loop: EventLoop) throws -> SignalSource? {
        guard let editors = configuration.editing.access?.editors, editors.hasFile else { return nil }
        return try SignalSource(loop: loop, signal: SIGHUP) { [observability] in
            let fault = editors.reload()
            observability.record(
                fault.map { .editorsRefused(reason: $0) } ?? .editorsRead(count: editors.count))
        }
    }

    private func startMonitor(
        of serviceLoops: [LoopBound<ServiceLoop>], _ reports: LoopBound<ServiceManagerReports>?,
        onReady: @escaping @Sendable () -> Void
    ) async throws -> LoopBound<HealthMonitor> {
        let first = serviceLoops[0]
        let wasReady = Lock(false)
        return try await first.loop.submit { [self] in
            let monitor = HealthMonitor(
                loop: first.loop, store: first.value.store, events: first.value.events, health: health,
                observability: observability,
                onReport: { report in
                    if report.notReadyReason == nil, wasReady.claim() { onReady() }
                    reports.map { reports in reports.loop.execute { reports.value.update(report) } }
                })
            monitor.start()
            return LoopBound(monitor, loop: first.loop)
        }
    }

    /// Serves for the drain delay without being ready, so that balancers and clients go elsewhere.
    private func drain(
        _ serviceLoops: [LoopBound<ServiceLoop>], on loop: EventLoop, after signal: String
    ) async {
        let (delay, timeout) = (configuration.lifecycle.drainDelay, configuration.lifecycle.shutdownTimeout)
        // This comes first: when a client sees that the process isn't ready, its next response is the last one on its
        // connection. Nothing waits for the loops: a stuck loop must not make the process look ready.
        for serviceLoop in serviceLoops {
            serviceLoop.loop.execute { serviceLoop.value.endKeepAlive() }
        }
        health.drain()
        observability.record(.stopping(signal: signal, drainDelay: delay))
        // If the system refuses a thread for this, the end is still orderly, but has no time limit.
        try? HardEnd.arm(after: delay + timeout)
        await loop.sleep(for: delay)
        observability.record(.finishing)
    }

    private func start(
        _ pulse: LoopPulse, on loop: EventLoop, _ socket: BoundSocket
    ) async throws -> LoopBound<ServiceLoop> {
        try await loop.submit { [self] in
            let serviceLoop = try ServiceLoop(
                pulse: pulse, loop: loop, socket: socket, store: try makeStore(loop),
                events: try makeEventStore(loop), edits: try makeEditStore?(loop), health: health,
                observability: observability,
                configuration: configuration, limits: limits, maximumDescriptor: maximumDescriptor)
            return LoopBound(serviceLoop, loop: loop)
        }
    }

    private func startAdmin(
        on loop: EventLoop, _ socket: BoundSocket, of serviceLoops: [LoopBound<ServiceLoop>]
    ) throws -> AdminServer {
        let metrics = MetricsCollector(
            loops: serviceLoops, health: health, observability: observability,
            connectionsLimit: configuration.maxConnectionsPerLoop * configuration.loops,
            memory: limits.memory)
        let admin = try AdminServer(
            loop: loop, socket: socket, health: health, metrics: metrics, observability: observability)
        observability.record(
            .adminListening(url: Self.url(host: configuration.admin.host, port: socket.port)))
        return admin
    }

    /// Finishes the requests in flight, on all loops at the same time.
    private func finish(_ serviceLoops: [LoopBound<ServiceLoop>]) async {
        let timeout = configuration.lifecycle.shutdownTimeout
        let cutOffCount = await withTaskGroup(of: Int.self) { group in
            for serviceLoop in serviceLoops {
                group.addTask(executorPreference: serviceLoop.loop) {
                    await serviceLoop.value.shutdown(timeout: timeout)
                }
            }
            return await group.reduce(0, +)
        }
        if cutOffCount > 0 { observability.record(.cutOff(connections: cutOffCount)) }
    }

    package static func url(host: String, port: Int) -> String {
        host.hasPrefix("unix:") ? host : "http://\(authority(host: host, port: port))"
    }

    /// The host and port of a URL, with brackets around an IPv6 address (RFC 3986, section 3.2.2).
    static func authority(host: String, port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

package struct ListeningError: Error, Hashable, CustomStringConvertible {
    let address: String
    let reason: String

    package var description: String { "can't listen on \(address): \(reason)" }

    /// - Parameter settings: of the host and of the port.
    fileprivate init(
        _ error: any Error, host: String, port: Int, settings: (host: SettingName, port: SettingName)
    ) {
        reason = "\(error)"
        let name = (error as? EventLoopError)?.name ?? ""
        address =
            if host.hasPrefix("unix:") {
                // Only the file's new group needs a right of its own (chown(2)).
                "\(host) (\(name == "EPERM" ? SettingName.socketGroup : settings.host))"
            } else if ["EAI_NONAME", "EADDRNOTAVAIL"].contains(name) {
                "\(host) (\(settings.host))"
            } else {
                "\(Service.authority(host: host, port: port)) (\(settings.port))"
            }
    }
}

extension BoundSocket {
    /// - Parameter settings: the names of the settings that the host and the port come from.
    package static func listening(
        host: String, port: Int, count: Int = 1, permissions: UnixSocketPermissions = UnixSocketPermissions(),
        settings: (host: SettingName, port: SettingName) = (.host, .port)
    ) throws(ListeningError) -> [BoundSocket] {
        do {
            return try bind(host: host, port: port, count: count, permissions: permissions)
        } catch {
            throw ListeningError(error, host: host, port: port, settings: settings)
        }
    }
}

/// The admin listener: health and metrics for operators, without keys and limits, on an address of its own. Confined to its
/// loop, which serves nothing else, so that it responds while a service loop is stuck. Its requests are neither logged nor
/// counted.
final class AdminServer {
    private let server: HTTPServer

    /// Enough for balancers, probes and scrapers.
    private static let maximumConnections = 100

    init(
        loop: EventLoop, socket: BoundSocket, health: Health, metrics: MetricsCollector,
        observability: Observability
    ) throws {
        let router = HTTPRouter()
        router.add(.get, EndpointPath.livez, LoopLivenessHandler(health: health))
        router.add(.get, EndpointPath.readyz, ReadinessHandler(health: health))
        router.add(.get, "/metrics", MetricsHandler(metrics: metrics))
        server = HTTPServer(
            loop: loop, configuration: HTTPServerConfiguration(maximumConnections: Self.maximumConnections),
            dispatcher: router, errorResponder: ProblemResponder(observability: observability))
        try server.start(on: socket)
    }

    func shutdown() async {
        await server.shutdown(timeout: .seconds(1))
    }
}

/// `GET /metrics`: all metrics of the process, in Prometheus' text format.
private struct MetricsHandler: WaitingHandler {
    let metrics: MetricsCollector

    func response(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        HTTPResponse(
            .ok, headers: [.contentType: MetricsSnapshot.mediaType, .cacheControl: "no-store"],
            body: try await metrics.snapshot().prometheusText())
    }
}

/// Gives memory back to the system once clients hold much less of it than before. The allocator alone would keep it.
/// Confined to the main thread's loop, which serves no clients.
final class FreedMemory {
    private let memory: ClientMemory
    private var timer: LoopTimer?
    private var highestBytes = 0

    private static let interval = Duration.seconds(2)
    /// The number of bytes whose return is worth the milliseconds for which other threads may have to wait.
    private static let worthwhileBytes = 2 << 20

    init(loop: EventLoop, memory: ClientMemory) {
        self.memory = memory
        timer = LoopTimer(loop: loop) { [weak self] in self?.look() }
        timer?.start(after: Self.interval, repeating: Self.interval)
    }

    func close() {
        timer?.close()
        timer = nil
    }

    private func look() {
        highestBytes = max(highestBytes, memory.takePeak())
        let heldBytes = memory.heldBytes
        guard highestBytes - heldBytes >= Self.worthwhileBytes else { return }
        highestBytes = heldBytes
        poi_return_freed_memory()
    }
}
