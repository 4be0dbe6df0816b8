import POIService
import Postgres

extension PostgresPlaceStore {
    /// The state of the connections, of the servers for reads, and of the table's order.
    public func collectMetrics(into snapshot: inout MetricsSnapshot) {
        for server in route?.report ?? [] {
            if let lag = server.lag {
                snapshot.add(lag / .seconds(1), to: DatabaseMetrics.replicaLag, server.name)
            }
            snapshot.add(server.isUsable ? 1 : 0, to: DatabaseMetrics.readServerUsable, server.name)
        }
        if let order = dataset.spatialOrder { snapshot.add(order, to: DatabaseMetrics.locationsOrder) }
        let statistics = pool.statistics
        snapshot.add(statistics.fast, of: .fast, to: .places)
        snapshot.add(statistics.exclusive, of: .exclusive, to: .places)
        snapshot.add(statistics.text, of: .text, to: .places)
    }
}

extension MetricsSnapshot {
    /// Adds the state of a loop's connections to a database.
    mutating func add(
        _ lane: PoolStatistics.Lane, of name: PoolLaneName, to database: DatabaseName
    ) {
        let labels = (database.rawValue, name.rawValue)
        func add(_ count: Int, to metric: MetricDefinition) {
            self.add(count, to: metric, labels.0, labels.1)
        }
        let idle = lane.connections - lane.busyConnections
        for (count, state) in [
            (idle, "idle"), (lane.busyConnections, "busy"), (lane.missingConnections, "missing"),
        ] {
            self.add(count, to: DatabaseMetrics.connections, labels.0, labels.1, state)
        }
        add(lane.inFlight, to: DatabaseMetrics.inFlight)
        add(lane.waiting, to: DatabaseMetrics.waiting)
        add(lane.timedOutAcquires, to: DatabaseMetrics.acquireTimeouts)
        add(lane.refusedAcquires, to: DatabaseMetrics.acquireRefusals)
        add(lane.lostConnections, to: DatabaseMetrics.connectionsLost)
        add(lane.retiredConnections, to: DatabaseMetrics.connectionsMoved)
        add(lane.timedOutQueries, to: DatabaseMetrics.queryTimeouts)
        // Zeros too: a rate begins with the first failure and not with the second.
        for reason in ConnectFailure.allCases {
            self.add(
                lane.connectFailures[reason] ?? 0, to: DatabaseMetrics.connectFailures, labels.0, labels.1,
                reason.rawValue)
        }
    }
}
