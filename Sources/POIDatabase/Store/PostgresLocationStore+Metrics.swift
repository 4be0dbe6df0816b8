import POIService
import Postgres

extension PostgresLocationStore {
    /// The state of the connections.
    public func collectMetrics(into snapshot: inout MetricsSnapshot) {
        let statistics = pool.statistics
        for (name, lane) in [("fast", statistics.fast), ("exclusive", statistics.exclusive)] {
            let idle = lane.connections - lane.busyConnections
            snapshot.add(idle, to: DatabaseMetrics.connections, name, "idle")
            snapshot.add(lane.busyConnections, to: DatabaseMetrics.connections, name, "busy")
            snapshot.add(lane.missingConnections, to: DatabaseMetrics.connections, name, "missing")
            snapshot.add(lane.inFlight, to: DatabaseMetrics.inFlight, name)
            snapshot.add(lane.waiting, to: DatabaseMetrics.waiting, name)
            snapshot.add(lane.timedOutAcquires, to: DatabaseMetrics.acquireTimeouts, name)
            snapshot.add(lane.refusedAcquires, to: DatabaseMetrics.acquireRefusals, name)
            snapshot.add(lane.failedConnects, to: DatabaseMetrics.connectFailures, name)
            snapshot.add(lane.lostConnections, to: DatabaseMetrics.connectionsLost, name)
            snapshot.add(lane.timedOutQueries, to: DatabaseMetrics.queryTimeouts, name)
        }
    }
}
