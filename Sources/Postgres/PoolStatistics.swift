/// A pool in numbers, at one moment.
public struct PoolStatistics: Sendable, Hashable {
    /// One of the lanes.
    public struct Lane: Sendable, Hashable {
        /// Healthy connections.
        public internal(set) var connections = 0
        /// Those of them that have something in flight.
        public internal(set) var busyConnections = 0
        /// Connections that are being made, or wait for the next attempt.
        public internal(set) var missingConnections = 0
        /// Queries and snapshots in flight.
        public internal(set) var inFlight = 0
        /// Who waits for a place.
        public internal(set) var waiting = 0
        /// How many have waited in vain since the start.
        public internal(set) var timedOutAcquires = 0
        /// How many were refused since the start because too many waited.
        public internal(set) var refusedAcquires = 0
        /// Queries that took longer than they may, since the start.
        public internal(set) var timedOutQueries = 0
        /// Attempts to connect that failed since the start.
        public internal(set) var failedConnects = 0
        /// The same by their kind; what never happened is absent.
        public internal(set) var connectFailures: [ConnectFailure: Int] = [:]
        /// Connections that ended by themselves since the start.
        public internal(set) var lostConnections = 0
        /// Connections that were given up since the start, to be made to another server.
        public internal(set) var retiredConnections = 0
    }

    /// Pipelined connections.
    public internal(set) var fast = Lane()
    /// Connections with one query at a time.
    public internal(set) var exclusive = Lane()
    /// Connections for searches by text.
    public internal(set) var text = Lane()
}
