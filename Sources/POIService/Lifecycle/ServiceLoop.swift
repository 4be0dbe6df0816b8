import EventLoop
import HTTPServer

/// One loop's share of the service: an HTTP server, its routes and a store, all confined to the loop.
final class ServiceLoop {
    let store: any PlaceStore
    let events: any EventStore
    private let pulse: LoopPulse
    private let server: HTTPServer
    private let requests = RequestMetrics()
    private let lag: EventLoopLag

    /// Serves on `socket` from now on.
    ///
    /// - Parameter pulse: told that the loop turns; its name tells the loop from others in metrics.
    init(
        pulse: LoopPulse, loop: EventLoop, socket: BoundSocket, store: any PlaceStore,
        events: any EventStore, health: Health,
        observability: Observability, configuration: ServiceConfiguration, limits: SharedLimits,
        maximumDescriptor: Int? = nil
    ) throws {
        self.pulse = pulse
        self.store = store
        self.events = events
        // Nobody pays for what nobody can look at.
        let isMeasured = configuration.admin.port != nil
        let problems = ProblemResponder(observability: observability)
        var serverConfiguration = HTTPServerConfiguration(configuration, limits: limits)
        serverConfiguration.maximumDescriptor = maximumDescriptor
        server = HTTPServer(
            loop: loop,
            configuration: serverConfiguration,
            dispatcher: ServiceHandler(
                store: store, events: events, health: health, configuration: configuration,
                errorResponder: problems, observability: observability, rateLimiter: limits.rateLimiter),
            errorResponder: problems,
            observe: Self.observer(of: isMeasured ? requests : nil, observability))
        server.onAcceptFailure = { reason in observability.record(.acceptFailed(reason: reason)) }
        try server.start(on: socket)
        lag = EventLoopLag(loop: loop, pulse: pulse)
    }

    /// What is told of every request; nil where nobody wants to know.
    private static func observer(
        of metrics: RequestMetrics?, _ observability: Observability
    ) -> ((RequestObservation) -> Void)? {
        switch (metrics, observability.observesRequests) {
        case (nil, false): nil
        case (nil, true): { observability.record(.request($0)) }
        case (let metrics?, false): { metrics.record($0) }
        case (let metrics?, true):
            { request in
                metrics.record(request)
                observability.record(.request(request))
            }
        }
    }

    /// Adds what this loop has counted, and its state.
    func collectMetrics(into snapshot: inout MetricsSnapshot) {
        requests.collect(into: &snapshot)
        snapshot.add(server.activeRequestCount, to: .activeRequests)
        snapshot.add(server.connectionCount, to: .connections)
        snapshot.add(server.acceptFailureCount, to: .acceptFailures)
        snapshot.add(lag.durations, to: .eventLoopLag, pulse.name)
        if let id = store.currentDatasetID { snapshot.add(1, to: .dataset, id.hexadecimal) }
        store.collectMetrics(into: &snapshot)
        events.collectMetrics(into: &snapshot)
    }

    /// From now on clients are asked to connect anew, elsewhere.
    func endKeepAlive() {
        server.endKeepAlive()
    }

    /// Answers what is in flight, then lets go of everything; answers how many connections were cut off.
    func shutdown(deadline: Duration) async -> Int {
        let cutOffCount = await server.shutdown(deadline: deadline)
        await store.close()
        await events.close()
        lag.close()
        return cutOffCount
    }
}
