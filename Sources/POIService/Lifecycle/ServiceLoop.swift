import PointsOfInterestAPI
import EventLoop
import HTTPServer
import Places
import Telemetry

/// The part of the service that one loop runs: an HTTP server, its routes and the stores. Confined to its loop.
final class ServiceLoop {
    let store: any PlaceStore
    let events: any EventStore
    private let edits: (any EditStore & ReportStore)?
    private let pulse: LoopPulse
    private let server: HTTPServer
    private let requests = RequestMetrics()
    private let accessLog: AccessLog?
    private let lag: EventLoopLag

    /// - Parameter pulse: gets the loop's beats; its name is the loop's label in metrics.
    init(
        pulse: LoopPulse, loop: EventLoop, socket: BoundSocket, store: any PlaceStore, events: any EventStore,
        edits: (any EditStore & ReportStore)? = nil, health: Health, observability: Observability,
        configuration: ServiceConfiguration,
        limits: SharedLimits, maximumDescriptor: Int? = nil
    ) throws {
        self.pulse = pulse
        self.store = store
        self.events = events
        self.edits = edits
        // Without the admin listener nobody can read metrics, so none are collected.
        let isMeasured = configuration.admin.port != nil
        let problems = ProblemResponder(observability: observability)
        accessLog = observability.makeAccessLog(loop: loop, client: configuration.logClient)
        var serverConfiguration = HTTPServerConfiguration(configuration, limits: limits)
        serverConfiguration.maximumDescriptor = maximumDescriptor
        server = HTTPServer(
            loop: loop, configuration: serverConfiguration,
            dispatcher: ServiceDispatcher(
                store: store, events: events, edits: edits, reports: edits, health: health,
                configuration: configuration,
                errorResponder: problems, observability: observability, limits: limits),
            errorResponder: problems, observe: Self.observer(of: isMeasured ? requests : nil, accessLog))
        server.onAcceptFailure = { reason in observability.record(.acceptFailed(reason: reason)) }
        try server.start(on: socket)
        lag = EventLoopLag(loop: loop, pulse: pulse)
    }

    /// The function that is called with every request; nil if requests are neither counted nor logged.
    private static func observer(
        of metrics: RequestMetrics?, _ log: AccessLog?
    ) -> ((RequestObservation) -> Void)? {
        switch (metrics, log) {
        case (nil, nil): nil
        case (nil, let log?): { log.record($0) }
        case (let metrics?, nil): { metrics.record($0) }
        case (let metrics?, let log?):
            { request in
                metrics.record(request)
                log.record(request)
            }
        }
    }

    func collectMetrics(into snapshot: inout MetricsSnapshot) {
        requests.collect(into: &snapshot)
        snapshot.add(server.activeRequestCount, to: .activeRequests)
        snapshot.add(server.connectionCount, to: .connections, pulse.name)
        snapshot.add(server.acceptFailureCount, to: .acceptFailures)
        snapshot.add(lag.durations, to: .eventLoopLag, pulse.name)
        // As many bits as a value has without rounding (IEEE 754, binary64): a label would make a series each commit.
        if let id = store.currentDatasetID { snapshot.add(Int(id.high >> 12), to: .dataset) }
        store.collectMetrics(into: &snapshot)
        events.collectMetrics(into: &snapshot)
        edits?.collectMetrics(into: &snapshot)
    }

    /// From now on each response closes its connection, so that clients connect to another server.
    func endKeepAlive() {
        server.endKeepAlive()
    }

    /// Finishes the requests in flight, closes everything, and returns the number of connections that were cut off.
    func shutdown(timeout: Duration) async -> Int {
        let cutOffCount = await server.shutdown(timeout: timeout)
        await store.close()
        await events.close()
        await edits?.close()
        lag.close()
        accessLog?.close()
        return cutOffCount
    }
}

/// The limits that the loops of a process share.
package struct SharedLimits: Sendable {
    package let rateLimiter: RateLimiter?
    let editing: EditingLimits
    let clients: ClientIdentification
    let connectionsPerClient: ClientConnections
    let memory: ClientMemory

    package init(_ configuration: ServiceConfiguration) {
        let access = configuration.access
        rateLimiter = access.rateLimit.map { RateLimiter($0) }
        editing = EditingLimits(configuration)
        clients = ClientIdentification(trustedProxies: access.trustedProxies)
        connectionsPerClient = ClientConnections(
            limit: access.maxConnectionsPerClient, identification: clients)
        memory = ClientMemory(
            limit: configuration.maxBodyBytes,
            share: max(configuration.maxBodyBytes / 4, 2 * EventLimits.bodyBytes))
    }
}

extension HTTPServerConfiguration {
    package init(_ configuration: ServiceConfiguration, limits: SharedLimits) {
        self.init(
            maximumConnections: configuration.maxConnectionsPerLoop,
            connectionsPerClient: limits.connectionsPerClient, memory: limits.memory, clients: limits.clients,
            commonFields: ServiceDispatcher.commonFields(
                CrossOriginPolicy(configuration.access.allowedOrigins)))
    }
}
