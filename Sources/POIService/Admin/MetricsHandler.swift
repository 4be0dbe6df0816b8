import HTTPServer

/// `GET /metrics`: all metrics of the process, in Prometheus' text format.
struct MetricsHandler: HTTPHandler {
    let metrics: MetricsCollector

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        HTTPResponse(
            .ok, headers: [.contentType: MetricsSnapshot.mediaType, .cacheControl: "no-store"],
            body: try await metrics.snapshot().prometheusText())
    }
}
