import EventLoop
import HTTPServer
import PointsOfInterestAPI

/// The listener for those who run the service: health and metrics, without keys and limits, on an address of its own.
///
/// Confined to its loop, which is none of those that serve requests: what watches doesn't share a thread with what is
/// watched. Its requests are neither logged nor counted.
final class AdminServer {
    private let server: HTTPServer

    /// A balancer, a probe and a few scrapers: what is more is somebody's mistake.
    private static let maximumConnections = 100

    /// Serves on `socket` from now on.
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

    /// Answers what is in flight, and ends.
    func shutdown() async {
        await server.shutdown(deadline: .seconds(1))
    }
}
