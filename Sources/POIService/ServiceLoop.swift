import EventLoop
import HTTPServer

/// One loop's share of the service: an HTTP server, its routes and a store, all confined to the loop.
final class ServiceLoop {
    let store: any LocationStore
    private let server: HTTPServer

    /// Serves on `socket` from now on.
    init(
        loop: EventLoop, socket: BoundSocket, store: any LocationStore, health: Health,
        observability: Observability, configuration: ServiceConfiguration
    ) throws {
        self.store = store
        server = HTTPServer(
            loop: loop,
            configuration: HTTPServerConfiguration(maximumConnections: configuration.maxConnectionsPerLoop),
            handler: Routes.router(store: store, health: health, configuration: configuration),
            errorResponder: ProblemResponder(observability: observability),
            observe: observability.observesRequests ? { observability.record(.request($0)) } : nil)
        try server.start(on: socket)
    }

    /// Answers what is in flight, then lets go of everything.
    func shutdown(deadline: Duration) async {
        await server.shutdown(deadline: deadline)
        await store.close()
    }
}
