extension MetricDefinition {
    /// Every family that the service may have, in the order in which they are shown. `Documentation/observability.md`
    /// explains each.
    public static let all: [MetricDefinition] =
        [
            requestDuration, activeRequests, connections, connectionsLimit, acceptFailures, abandonedRequests,
            interruptedRequests, bodyBytes, bodyBytesLimit, requestFailures,
        ] + EventMetrics.all + DatabaseMetrics.all + [
            eventLoopLag, secondsSinceTurn, ready, draining, databaseReachable, dataset, build,
            droppedLogLines,
        ] + ProcessMetrics.all

    // Names and labels of what HTTP servers have in common are OpenTelemetry's (semantic conventions for HTTP
    // metrics), in the form that its Prometheus exporters give them.
    static let requestDuration = MetricDefinition(
        "http_server_request_duration_seconds", .histogram,
        labels: ["http_route", "http_request_method", "http_response_status_code"],
        "Time from a request's last byte to the hand-over of its answer to the system, in seconds.")
    static let activeRequests = MetricDefinition(
        "http_server_active_requests", .gauge, "Requests that are being answered.")
    static let connections = MetricDefinition(
        "poi_http_connections", .gauge, "Open connections of clients.")
    static let connectionsLimit = MetricDefinition(
        "poi_http_connections_limit", .gauge, "Most connections of clients that may be open.")
    static let acceptFailures = MetricDefinition(
        "poi_http_accept_failures_total", .counter,
        "Connections that were not taken because file descriptors ran out.")
    static let abandonedRequests = MetricDefinition(
        "poi_http_requests_abandoned_total", .counter, labels: ["http_route"],
        "Requests whose client was gone before their answer.")
    static let interruptedRequests = MetricDefinition(
        "poi_http_requests_interrupted_total", .counter, labels: ["http_route", "reason"],
        "Requests that never came in whole: their time was over, or the connection ended.")
    static let bodyBytes = MetricDefinition(
        "poi_http_body_bytes", .gauge, "Memory reserved for the bodies of requests, in bytes.")
    static let bodyBytesLimit = MetricDefinition(
        "poi_http_body_bytes_limit", .gauge, "Most memory for the bodies of requests, in bytes.")
    static let requestFailures = MetricDefinition(
        "poi_request_failures_total", .counter,
        "Requests that failed for a reason that is in the log and that the client isn't told.")
    static let eventLoopLag = MetricDefinition(
        "poi_event_loop_lag_seconds", .histogram, labels: ["loop"],
        "How late a loop came to a timer, asked twice a second: how long what is ready may have to wait.")
    static let secondsSinceTurn = MetricDefinition(
        "poi_event_loop_seconds_since_turn", .gauge, labels: ["loop"],
        "How long a loop hasn't told that it turns, in seconds: half a second where all is well.")
    static let ready = MetricDefinition(
        "poi_ready", .gauge, "Whether the process can take requests, as /readyz tells.")
    static let draining = MetricDefinition(
        "poi_draining", .gauge, "Whether the process was told to end.")
    static let databaseReachable = MetricDefinition(
        "poi_database_reachable", .gauge, labels: ["database"],
        "Whether a database answered when it was asked last; the events' is there if it is another.")
    static let dataset = MetricDefinition(
        "poi_dataset_info", .gauge, labels: ["dataset"], merging: .greatest,
        "The dataset that answers come from; absent while that isn't known.")
    static let build = MetricDefinition(
        "poi_build_info", .gauge, labels: ["version", "swift"], merging: .greatest,
        "The version of the program, and the compiler's language version.")
    static let droppedLogLines = MetricDefinition(
        "poi_log_lines_dropped_total", .counter, "Log lines that were dropped: their reader was too slow.")
}
