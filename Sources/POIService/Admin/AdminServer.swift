import EventLoop
import HTTPServer
import PointsOfInterestAPI
import Telemetry

/// The admin listener: health and metrics for operators, without keys and limits, on an address of its own.
///
/// Confined to its loop, which serves nothing else, so that it responds while a service loop is stuck. Its requests are
/// neither logged nor counted.
final class AdminServer {
    private let server: HTTPServer

    /// Enough for balancers, probes and scrapers.
    private static let maximumConnections = 100

    /// Serves on `socket` from now on.
    ///
    /// - Throws: `EventLoopError` if the loop can't listen on the socket.
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

    /// Finishes the requests in flight, for at most a second, and closes the listener.
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
