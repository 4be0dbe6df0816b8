import POIService
import Postgres

/// What one store of a process does for all: watches the dataset, and the servers for reads where there are any.
///
/// Confined to the loop. Where reads have servers of their own, both go by connections to `DATABASE_URL`: a
/// replica learns of a change late, and not by LISTEN.
final class DatabaseWatch {
    private let dataset: DatasetWatcher
    private let replicas: ReplicaMonitor?
    private let primary: ConnectionPool?

    init(
        _ configuration: DatabaseConfiguration, reads: ConnectionPool, route: ReadRoute?,
        dataset: DatasetState, connectionLog: ConnectionLog,
        record: @escaping @Sendable (Observation) -> Void
    ) {
        var primary: ConnectionPool?
        var replicas: ReplicaMonitor?
        if let route, route.claimWatch() {
            var options = configuration.pool
            (options.fastConnections, options.exclusiveConnections, options.textConnections) = (1, 1, 0)
            let pool = ConnectionPool(
                configuration.postgres, options: options, loop: reads.loop, observe: connectionLog.observe)
            primary = pool
            replicas = ReplicaMonitor(route: route, primary: pool, record: record)
        }
        self.primary = primary
        self.replicas = replicas
        self.dataset = DatasetWatcher(configuration: configuration, pool: primary ?? reads, state: dataset)
    }

    /// Knows nothing any more, and waits for what is under way.
    func close() async {
        await dataset.close()
        await replicas?.close()
        await primary?.close()
    }
}
