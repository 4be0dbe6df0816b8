/// A metric: a family of time series in Prometheus' terms.
package struct MetricDefinition: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    /// How the values of several loops are merged into one value of the process.
    package enum Merging: Sendable {
        case sum
        case maximum
    }

    /// With its unit and, for a counter, `_total` at its end (Prometheus, "Metric and label naming").
    package let name: String
    package let kind: Kind
    package let help: String
    /// The names of its labels. Each has few values in the life of a process, since every new one makes a series that
    /// Prometheus keeps; a client can't choose them.
    package let labels: [String]
    package let merging: Merging

    /// It has to be in `all`.
    package init(
        _ name: String, _ kind: Kind, labels: [String] = [], merging: Merging = .sum, _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        self.merging = merging
    }

    package static func == (left: MetricDefinition, right: MetricDefinition) -> Bool {
        left.name == right.name
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

extension MetricDefinition {
    /// All metrics of the service, in the order of `/metrics`. Documentation/observability.md explains each.
    package static let all: [MetricDefinition] =
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
        "poi_http_connections", .gauge, labels: ["loop"], "Open connections of clients to a loop.")
    package static let connectionsLimit = MetricDefinition(
        "poi_http_connections_limit", .gauge,
        "Maximum number of open connections of clients, of which each loop has an equal share.")
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
        "poi_dataset_fingerprint", .gauge, merging: .maximum,
        "The first 52 bits of the id of the dataset that is served; absent while it isn't known.")
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
        "poi_db_pool_connections", .gauge, labels: ["database", "state"],
        "Connections to the database: idle, busy, or missing while they are being made.")
    package static let waiting = MetricDefinition(
        "poi_db_pool_waiting", .gauge, labels: ["database"],
        "Statements that wait for a connection.")
    package static let acquireTimeouts = MetricDefinition(
        "poi_db_pool_acquire_timeouts_total", .counter, labels: ["database"],
        "Statements that got no connection in time.")
    package static let acquireRefusals = MetricDefinition(
        "poi_db_pool_acquire_refusals_total", .counter, labels: ["database"],
        "Statements that were refused because too many waited.")
    package static let connectFailures = MetricDefinition(
        "poi_db_pool_connect_failures_total", .counter, labels: ["database", "reason"],
        "Attempts to connect that failed, by reason.")
    package static let connectionsLost = MetricDefinition(
        "poi_db_pool_connections_lost_total", .counter, labels: ["database"],
        "Connections that were lost.")
    package static let queryTimeouts = MetricDefinition(
        "poi_db_query_timeouts_total", .counter, labels: ["database"],
        "Statements that were cancelled because they took too long.")
    package static let eventPartitionLeft = MetricDefinition(
        "poi_events_partition_left_seconds", .gauge, merging: .maximum,
        "Seconds until the end of the last month that has a partition for events.")

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
    package static let indexOrigin = MetricDefinition(
        "poi_index_origin", .gauge, labels: ["source"], merging: .maximum,
        "Where the first places of the process came from: 1 for the database or a file.")
    package static let indexFileBytes = MetricDefinition(
        "poi_index_file_bytes", .gauge, merging: .maximum,
        "Size of the file that this process keeps its places in, in bytes; 0 while there is none.")
    package static let indexFileAge = MetricDefinition(
        "poi_index_file_age_seconds", .gauge, merging: .maximum,
        "Seconds since the places in the file were known to be the database's newest.")
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
    package static let indexStandby = MetricDefinition(
        "poi_index_follows_standby", .gauge, merging: .maximum,
        "Whether places are read from a standby, where one is wanted (POI_READ_DATABASE_URL).")
    package static let indexLoads = MetricDefinition(
        "poi_index_loads_total", .counter, merging: .maximum, "How often all places were read into memory.")
    package static let indexChanges = MetricDefinition(
        "poi_index_changes_total", .counter, merging: .maximum,
        "Places that were changed in memory after the database.")

    package static let refreshSucceeded = MetricDefinition(
        "poi_refresh_succeeded_timestamp_seconds", .gauge, labels: ["dataset"], merging: .maximum,
        "When a refresh of a dataset last succeeded, in seconds since 1970.")
    package static let refreshFailed = MetricDefinition(
        "poi_refresh_failed_timestamp_seconds", .gauge, labels: ["dataset"], merging: .maximum,
        "When a refresh of a dataset last failed, in seconds since 1970.")

    package static let all = [
        connections, waiting, acquireTimeouts, acquireRefusals, connectFailures, connectionsLost,
        queryTimeouts, eventPartitionLeft, indexState, indexPlaces, indexBytes,
        indexBytesLimit, indexRevision, indexConfirmed, indexOrigin, indexFileBytes, indexFileAge,
        indexVerified, indexDifferences,
        indexInactiveTriggers, indexStandby, indexLoads, indexChanges, refreshSucceeded, refreshFailed,
    ]
}
