/// A metric: a family of time series in Prometheus' terms.
public struct MetricDefinition: Hashable, Sendable {
    /// How its values change over time.
    public enum Kind: String, Sendable {
        /// Only grows while the process runs.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts values in buckets.
        case histogram
    }

    /// How the values of several loops are merged into one value of the process.
    public enum Merging: Sendable {
        /// Their sum.
        case sum
        /// Their maximum.
        case maximum
    }

    /// The name, with its unit and, for a counter, `_total` at its end (Prometheus, "Metric and label naming").
    public let name: String
    /// How its values change over time.
    public let kind: Kind
    /// What it measures, in a sentence.
    public let help: String
    /// The names of its labels. They have few values, and a client can't choose them.
    public let labels: [String]
    /// How the values of several loops are merged into one.
    public let merging: Merging

    /// Defines a metric, which has to be in `all`.
    public init(
        _ name: String, _ kind: Kind, labels: [String] = [], merging: Merging = .sum, _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        self.merging = merging
    }

    /// Compares names, which are unique.
    public static func == (left: MetricDefinition, right: MetricDefinition) -> Bool {
        left.name == right.name
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

extension MetricDefinition {
    /// All metrics of the service, in the order of `/metrics`. Documentation/observability.md explains each.
    public static let all: [MetricDefinition] =
        [
            requestDuration, activeRequests, connections, connectionsLimit, acceptFailures, abandonedRequests,
            interruptedRequests, bodyBytes, bodyBytesLimit, requestFailures,
        ] + EventMetrics.all + DatabaseMetrics.all + [
            eventLoopLag, secondsSinceTurn, ready, draining, databaseReachable, dataset, build,
            droppedLogLines,
        ] + ProcessMetrics.all

    // The first two metrics have the names and labels of OpenTelemetry (semantic conventions for HTTP metrics), in the
    // form that its Prometheus exporters write.
    package static let requestDuration = MetricDefinition(
        "http_server_request_duration_seconds", .histogram,
        labels: ["http_route", "http_request_method", "http_response_status_code"],
        "Time from a request's last byte until its response is handed to the system, in seconds.")
    package static let activeRequests = MetricDefinition(
        "http_server_active_requests", .gauge, "Requests in flight.")
    package static let connections = MetricDefinition(
        "poi_http_connections", .gauge, "Open connections of clients.")
    package static let connectionsLimit = MetricDefinition(
        "poi_http_connections_limit", .gauge, "Maximum number of open connections of clients.")
    package static let acceptFailures = MetricDefinition(
        "poi_http_accept_failures_total", .counter,
        "Connections that were not accepted because file descriptors ran out.")
    package static let abandonedRequests = MetricDefinition(
        "poi_http_requests_abandoned_total", .counter, labels: ["http_route"],
        "Requests whose client was gone before their response.")
    package static let interruptedRequests = MetricDefinition(
        "poi_http_requests_interrupted_total", .counter, labels: ["http_route", "reason"],
        "Requests that never arrived completely: they timed out, or the connection ended.")
    package static let bodyBytes = MetricDefinition(
        "poi_http_body_bytes", .gauge,
        "Memory held for clients: bodies, requests that wait, responses not taken; in bytes.")
    package static let bodyBytesLimit = MetricDefinition(
        "poi_http_body_bytes_limit", .gauge, "Maximum memory that is held for clients, in bytes.")
    package static let requestFailures = MetricDefinition(
        "poi_request_failures_total", .counter,
        "Requests that failed for a reason that only the log has.")
    package static let eventLoopLag = MetricDefinition(
        "poi_event_loop_lag_seconds", .histogram, labels: ["loop"],
        "How late a loop's timer fired, measured twice a second, in seconds.")
    package static let secondsSinceTurn = MetricDefinition(
        "poi_event_loop_seconds_since_turn", .gauge, labels: ["loop"],
        "Seconds since a loop has last turned; at most half a second in a healthy loop.")
    package static let ready = MetricDefinition(
        "poi_ready", .gauge, "Whether the process is ready, as at /readyz.")
    package static let draining = MetricDefinition(
        "poi_draining", .gauge, "Whether the process was told to end.")
    package static let databaseReachable = MetricDefinition(
        "poi_database_reachable", .gauge, labels: ["database"],
        "Whether the last check reached a database; events is there if that is another database.")
    package static let dataset = MetricDefinition(
        "poi_dataset_info", .gauge, labels: ["dataset"], merging: .maximum,
        "The dataset that is served; absent while it isn't known.")
    package static let build = MetricDefinition(
        "poi_build_info", .gauge, labels: ["version", "swift"], merging: .maximum,
        "The version of the program, and of the Swift compiler that built it.")
    package static let droppedLogLines = MetricDefinition(
        "poi_log_lines_dropped_total", .counter, "Log lines that were dropped or could not be written.")
}

/// The metrics that stores add in `PlaceStore.collectMetrics(into:)` and `EventStore.collectMetrics(into:)`. The label
/// `database` is a `DatabaseName`.
package enum DatabaseMetrics {
    package static let connections = MetricDefinition(
        "poi_db_pool_connections", .gauge, labels: ["database", "lane", "state"],
        "Connections to the database: idle, busy, or missing while they are being made.")
    package static let inFlight = MetricDefinition(
        "poi_db_pool_in_flight", .gauge, labels: ["database", "lane"], "Statements in flight.")
    package static let waiting = MetricDefinition(
        "poi_db_pool_waiting", .gauge, labels: ["database", "lane"],
        "Statements that wait for a connection.")
    package static let acquireTimeouts = MetricDefinition(
        "poi_db_pool_acquire_timeouts_total", .counter, labels: ["database", "lane"],
        "Statements that got no connection in time.")
    package static let acquireRefusals = MetricDefinition(
        "poi_db_pool_acquire_refusals_total", .counter, labels: ["database", "lane"],
        "Statements that were refused because too many waited.")
    package static let connectFailures = MetricDefinition(
        "poi_db_pool_connect_failures_total", .counter, labels: ["database", "lane", "reason"],
        "Attempts to connect that failed, by reason.")
    package static let connectionsLost = MetricDefinition(
        "poi_db_pool_connections_lost_total", .counter, labels: ["database", "lane"],
        "Connections that were lost.")
    package static let queryTimeouts = MetricDefinition(
        "poi_db_query_timeouts_total", .counter, labels: ["database", "lane"],
        "Statements that were cancelled because they took too long.")
    package static let replicaLag = MetricDefinition(
        "poi_db_replica_lag_seconds", .gauge, labels: ["server"], merging: .maximum,
        "How far a server for reads lags behind its primary, in seconds.")
    package static let connectionsMoved = MetricDefinition(
        "poi_db_pool_connections_moved_total", .counter, labels: ["database", "lane"],
        "Connections that were closed to be made to another server.")
    package static let readServerUsable = MetricDefinition(
        "poi_db_read_server_usable", .gauge, labels: ["server"], merging: .maximum,
        "Whether a server for reads can be reached and is not too far behind.")
    package static let eventPartitionDaysLeft = MetricDefinition(
        "poi_events_partition_days_left", .gauge, merging: .maximum,
        "Whole days until the end of the last month that has a partition for events.")

    package static let indexState = MetricDefinition(
        "poi_index_state", .gauge, labels: ["state"], merging: .maximum,
        "1 for the state of the places in memory: connecting, loading, serving, waiting or too_large.")
    package static let indexPlaces = MetricDefinition(
        "poi_index_places", .gauge, merging: .maximum, "Places in memory.")
    package static let indexBytes = MetricDefinition(
        "poi_index_bytes", .gauge, merging: .maximum, "Memory that the places take, in bytes.")
    package static let indexBytesLimit = MetricDefinition(
        "poi_index_bytes_limit", .gauge, merging: .maximum,
        "Memory that the places may take, in bytes, so that there is room to read them again.")
    package static let indexRevision = MetricDefinition(
        "poi_index_revision", .gauge, merging: .maximum, "The revision of the dataset in memory.")
    package static let indexConfirmed = MetricDefinition(
        "poi_index_seconds_since_confirmed", .gauge, merging: .maximum,
        "Seconds since the places in memory were seen to be the database's newest.")
    package static let indexVerified = MetricDefinition(
        "poi_index_seconds_since_verified", .gauge, merging: .maximum,
        "Seconds since the begin of the last whole round in which places in memory were compared with the database."
    )
    package static let indexDifferences = MetricDefinition(
        "poi_index_differences_total", .counter, merging: .maximum,
        "Places in memory that were found to differ from the database's, and were mended.")
    package static let indexInactiveTriggers = MetricDefinition(
        "poi_index_inactive_triggers", .gauge, merging: .maximum,
        "Triggers that are disabled or missing, so that servers don't follow what is written.")
    package static let indexLoads = MetricDefinition(
        "poi_index_loads_total", .counter, merging: .maximum, "How often all places were read into memory.")
    package static let indexChanges = MetricDefinition(
        "poi_index_changes_total", .counter, merging: .maximum,
        "Places that were changed in memory after the database.")

    package static let all = [
        connections, inFlight, waiting, acquireTimeouts, acquireRefusals, connectFailures, connectionsLost,
        connectionsMoved, queryTimeouts, replicaLag, readServerUsable,
        eventPartitionDaysLeft, indexState, indexPlaces, indexBytes,
        indexBytesLimit, indexRevision, indexConfirmed, indexVerified, indexDifferences,
        indexInactiveTriggers, indexLoads, indexChanges,
    ]
}
