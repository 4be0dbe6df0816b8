/// A family of metrics as Prometheus knows it: what it is called, what it counts and how.
public struct MetricDefinition: Hashable, Sendable {
    /// What its values do over time.
    public enum Kind: String, Sendable {
        /// Only grows while the process lives.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts values by their size.
        case histogram
    }

    /// How the values of several loops become the process's one.
    public enum Merging: Sendable {
        /// Their sum.
        case sum
        /// The greatest of them.
        case greatest
    }

    /// The name, with its unit and, for a counter, `_total` at its end (Prometheus, "Metric and label naming").
    public let name: String
    /// What its values do over time.
    public let kind: Kind
    /// What it tells, in a sentence.
    public let help: String
    /// The names of its labels, whose values are few and never a client's to choose.
    public let labels: [String]
    /// How the values of several loops become one.
    public let merging: Merging

    /// Defines a family; it belongs into `all`.
    public init(
        _ name: String, _ kind: Kind, labels: [String] = [], merging: Merging = .sum, _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        self.merging = merging
    }

    /// By its name, which no other has.
    public static func == (left: MetricDefinition, right: MetricDefinition) -> Bool {
        left.name == right.name
    }

    /// By its name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

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

/// The families that a store over a database fills in, by `PlaceStore.collectMetrics(into:)` and
/// `EventStore.collectMetrics(into:)`; `database` is a `DatabaseName`.
public enum DatabaseMetrics {
    /// Connections of the pools by lane and state: `idle`, `busy` or `missing`.
    public static let connections = MetricDefinition(
        "poi_db_pool_connections", .gauge, labels: ["database", "lane", "state"],
        "Connections to the database: idle, busy, or missing because they are being made.")
    /// Queries and leases in flight.
    public static let inFlight = MetricDefinition(
        "poi_db_pool_in_flight", .gauge, labels: ["database", "lane"], "Queries that are with the database.")
    /// Queries that have no place yet.
    public static let waiting = MetricDefinition(
        "poi_db_pool_waiting", .gauge, labels: ["database", "lane"],
        "Queries that wait for a place on a connection.")
    /// Queries that found no place in time.
    public static let acquireTimeouts = MetricDefinition(
        "poi_db_pool_acquire_timeouts_total", .counter, labels: ["database", "lane"],
        "Queries that found no place on a connection in time.")
    /// Queries that weren't even let wait.
    public static let acquireRefusals = MetricDefinition(
        "poi_db_pool_acquire_refusals_total", .counter, labels: ["database", "lane"],
        "Queries that were refused at once because too many waited.")
    /// Attempts to connect that failed.
    public static let connectFailures = MetricDefinition(
        "poi_db_pool_connect_failures_total", .counter, labels: ["database", "lane", "reason"],
        "Attempts to connect that failed, by why.")
    /// Connections that ended by themselves.
    public static let connectionsLost = MetricDefinition(
        "poi_db_pool_connections_lost_total", .counter, labels: ["database", "lane"],
        "Connections that ended without being closed.")
    /// Queries that took too long.
    public static let queryTimeouts = MetricDefinition(
        "poi_db_query_timeouts_total", .counter, labels: ["database", "lane"],
        "Queries that took longer than they may.")
    /// How far a server for reads is behind its primary.
    public static let replicaLag = MetricDefinition(
        "poi_db_replica_lag_seconds", .gauge, labels: ["server"], merging: .greatest,
        "How far a server for reads is behind its primary, in seconds.")

    /// Connections that were given up for another server.
    public static let connectionsMoved = MetricDefinition(
        "poi_db_pool_connections_moved_total", .counter, labels: ["database", "lane"],
        "Connections that were given up to be made to another server.")
    /// Whether reads may go to a server.
    public static let readServerUsable = MetricDefinition(
        "poi_db_read_server_usable", .gauge, labels: ["server"], merging: .greatest,
        "Whether a server for reads answers and is not too far behind.")

    /// How near to spatial order the table of places is.
    public static let locationsOrder = MetricDefinition(
        "poi_locations_order_ratio", .gauge, merging: .greatest,
        "The share of places on the same page of the table as their neighbor in spatial order.")

    /// How far partitions for events are made ahead.
    public static let eventPartitionDaysLeft = MetricDefinition(
        "poi_events_partition_days_left", .gauge, merging: .greatest,
        "Whole days until the end of the last month that has a partition for events.")

    static let all = [
        connections, inFlight, waiting, acquireTimeouts, acquireRefusals, connectFailures, connectionsLost,
        connectionsMoved, queryTimeouts, replicaLag, readServerUsable,
        locationsOrder, eventPartitionDaysLeft,
    ]
}
