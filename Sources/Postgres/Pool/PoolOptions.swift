/// A pool's sizes and times.
public struct PoolOptions: Sendable, Hashable {
    /// Connections of the fast lane; with none, its queries time out.
    public var fastConnections = 2
    /// Queries in flight on each of them, at least 1.
    public var fastDepth = 32
    /// Connections of the exclusive lane, at least 1.
    public var exclusiveConnections = 4
    /// All connections of a pool.
    public var connections: Int { fastConnections + exclusiveConnections }
    /// How many queries may wait for a place, in each lane.
    public var waitersPerLane = 1024
    /// How long a query may wait for a place.
    public var acquireTimeout: Duration = .seconds(1)
    /// How long a query may take once it has a place, where its caller sets no limit.
    public var queryTimeout: Duration? = .seconds(2)
    /// The idle time after which a connection is checked.
    public var healthCheckInterval: Duration = .seconds(30)

    /// The defaults.
    public init() {}

    func limits(of lane: PoolLaneName) -> (connections: Int, depth: Int) {
        switch lane {
        case .fast: (max(0, fastConnections), max(1, fastDepth))
        case .exclusive: (max(1, exclusiveConnections), 1)
        }
    }
}

/// What happens to a pool's connections, for logs and metrics.
public enum PoolObservation: Sendable {
    /// A connection has been made.
    case connected(PoolLaneName)
    /// An attempt has failed; another follows.
    case connectFailed(PoolLaneName, PostgresError)
    /// A connection has ended by itself.
    case connectionLost(PoolLaneName, PostgresError)
    /// The server sent a notice.
    case notice(PostgresServerReport)
}

/// The lanes of a pool.
public enum PoolLaneName: String, Sendable, Hashable, CaseIterable {
    /// Many queries in flight on each of a few connections. For queries that are quick as a rule, since one that takes long
    /// holds up those behind it.
    case fast
    /// One query, or one snapshot, at a time on each connection.
    case exclusive
}

/// A pool in numbers, at one moment.
public struct PoolStatistics: Sendable, Hashable {
    /// One of the lanes.
    public struct Lane: Sendable, Hashable {
        /// Healthy connections.
        public internal(set) var connections = 0
        /// Healthy connections with a query in flight.
        public internal(set) var busyConnections = 0
        /// Connections that are being made, or wait for the next attempt.
        public internal(set) var missingConnections = 0
        /// Queries and snapshots in flight.
        public internal(set) var inFlight = 0
        /// Queries and snapshots that wait for a place.
        public internal(set) var waiting = 0
        /// How many waited too long for a place, since the start.
        public internal(set) var timedOutAcquires = 0
        /// How many were refused because too many waited, since the start.
        public internal(set) var refusedAcquires = 0
        /// Queries that took longer than they may, since the start.
        public internal(set) var timedOutQueries = 0
        /// Attempts to connect that failed since the start.
        public internal(set) var failedConnects = 0
        /// Failed attempts by their kind, without the kinds that never happened.
        public internal(set) var connectFailures: [ConnectFailure: Int] = [:]
        /// Connections that ended by themselves since the start.
        public internal(set) var lostConnections = 0
        /// Connections that were replaced by one to another server, since the start.
        public internal(set) var retiredConnections = 0
    }

    /// Pipelined connections.
    public internal(set) var fast = Lane()
    /// Connections with one query at a time.
    public internal(set) var exclusive = Lane()
}
