import EventLoop

/// Gathers the process's metrics when somebody asks: the loops count for themselves until then.
struct MetricsCollector: Sendable {
    private let loops: [LoopBound<ServiceLoop>]
    private let health: Health
    private let observability: Observability
    private let connectionsLimit: Int

    init(
        loops: [LoopBound<ServiceLoop>], health: Health, observability: Observability, connectionsLimit: Int
    ) {
        self.loops = loops
        self.health = health
        self.observability = observability
        self.connectionsLimit = connectionsLimit
    }

    /// What all loops have counted, and the state of the process.
    func snapshot() async throws -> MetricsSnapshot {
        var snapshot = MetricsSnapshot()
        for loop in loops {
            snapshot.merge(
                try await loop.loop.submit {
                    var snapshot = MetricsSnapshot()
                    loop.value.collectMetrics(into: &snapshot)
                    return snapshot
                })
        }
        let report = health.report
        snapshot.add(connectionsLimit, to: .connectionsLimit)
        snapshot.add(report.notReadyReason == nil ? 1 : 0, to: .ready)
        snapshot.add(report.isDraining ? 1 : 0, to: .draining)
        snapshot.add(report.isDatabaseReachable ? 1 : 0, to: .databaseReachable)
        snapshot.add(1, to: .build, BuildInformation.version, BuildInformation.swift)
        observability.collectMetrics(into: &snapshot)
        ProcessMetrics.collect(into: &snapshot, start: observability.start)
        return snapshot
    }
}
