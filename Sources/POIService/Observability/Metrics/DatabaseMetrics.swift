/// The families that a store over a database fills in, by `LocationStore.collectMetrics(into:)`.
public enum DatabaseMetrics {
    /// Connections of the pools by lane and state: `idle`, `busy` or `missing`.
    public static let connections = MetricDefinition(
        "poi_db_pool_connections", .gauge, labels: ["lane", "state"],
        "Connections to the database: idle, busy, or missing because they are being made.")
    /// Queries and leases in flight.
    public static let inFlight = MetricDefinition(
        "poi_db_pool_in_flight", .gauge, labels: ["lane"], "Queries that are with the database.")
    /// Queries that have no place yet.
    public static let waiting = MetricDefinition(
        "poi_db_pool_waiting", .gauge, labels: ["lane"], "Queries that wait for a place on a connection.")
    /// Queries that found no place in time.
    public static let acquireTimeouts = MetricDefinition(
        "poi_db_pool_acquire_timeouts_total", .counter, labels: ["lane"],
        "Queries that found no place on a connection in time.")
    /// Queries that weren't even let wait.
    public static let acquireRefusals = MetricDefinition(
        "poi_db_pool_acquire_refusals_total", .counter, labels: ["lane"],
        "Queries that were refused at once because too many waited.")
    /// Attempts to connect that failed.
    public static let connectFailures = MetricDefinition(
        "poi_db_pool_connect_failures_total", .counter, labels: ["lane"], "Attempts to connect that failed.")
    /// Connections that ended by themselves.
    public static let connectionsLost = MetricDefinition(
        "poi_db_pool_connections_lost_total", .counter, labels: ["lane"],
        "Connections that ended without being closed.")
    /// Queries that took too long.
    public static let queryTimeouts = MetricDefinition(
        "poi_db_query_timeouts_total", .counter, labels: ["lane"], "Queries that took longer than they may.")
    /// How far a server for reads is behind its primary.
    public static let replicaLag = MetricDefinition(
        "poi_db_replica_lag_seconds", .gauge, labels: ["server"], merging: .greatest,
        "How far a server for reads is behind its primary, in seconds.")

    static let all = [
        connections, inFlight, waiting, acquireTimeouts, acquireRefusals, connectFailures, connectionsLost,
        queryTimeouts, replicaLag,
    ]
}
