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
