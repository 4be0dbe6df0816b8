import EventLoop
import HTTPServer

/// One loop's share of the service: an HTTP server, its routes and a store, all confined to the loop.
final class ServiceLoop {
    let store: any LocationStore
    private let events: any EventStore
    private let server: HTTPServer

    /// Serves on `socket` from now on.
    init(
        loop: EventLoop, socket: BoundSocket, store: any LocationStore, events: any EventStore,
        health: Health,
        observability: Observability, configuration: ServiceConfiguration, rateLimiter: RateLimiter?
    ) throws {
        self.store = store
        self.events = events
        let problems = ProblemResponder(observability: observability)
        let crossOrigin = CrossOriginPolicy(configuration.access.allowedOrigins)
        server = HTTPServer(
            loop: loop,
            configuration: HTTPServerConfiguration(
                maximumConnections: configuration.maxConnectionsPerLoop,
                commonFields: ServiceHandler.commonFields(crossOrigin)),
            handler: ServiceHandler(
                router: Routes.router(
                    store: store, events: events, health: health, configuration: configuration,
                    observability: observability, rateLimiter: rateLimiter),
                errorResponder: problems, crossOrigin: crossOrigin),
            errorResponder: problems,
            observe: observability.observesRequests ? { observability.record(.request($0)) } : nil)
        try server.start(on: socket)
    }

    /// Answers what is in flight, then lets go of everything.
    func shutdown(deadline: Duration) async {
        await server.shutdown(deadline: deadline)
        await store.close()
        await events.close()
    }
}
