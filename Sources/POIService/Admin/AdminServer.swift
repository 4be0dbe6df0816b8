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

/// `GET /metrics`: all metrics of the process, in Prometheus' text format.
struct MetricsHandler: HTTPHandler {
    let metrics: MetricsCollector

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        HTTPResponse(
            .ok, headers: [.contentType: MetricsSnapshot.mediaType, .cacheControl: "no-store"],
            body: try await metrics.snapshot().prometheusText())
    }
}

/// What this program is.
package enum BuildInformation {
    /// The version of the service and of its contract.
    package static let version = OpenAPIDocument.version

    /// The version of the compiler, to its minor number: what conditional compilation tells.
    static let swift: String = {
        #if compiler(>=6.5)
            "6.5 or later"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }()
}
