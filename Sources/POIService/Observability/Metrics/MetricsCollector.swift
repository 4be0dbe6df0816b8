import EventLoop
import HTTPServer

/// Gathers the process's metrics when somebody asks: the loops count for themselves until then.
struct MetricsCollector: Sendable {
    private let loops: [LoopBound<ServiceLoop>]
    private let health: Health
    private let observability: Observability
    private let connectionsLimit: Int
    private let bodyBudget: BodyBudget

    /// How long a loop may not have turned to be asked, in seconds.
    private static let patience = 2.0

    /// - Parameter loops: in the order in which `health` has them.
    init(
        loops: [LoopBound<ServiceLoop>], health: Health, observability: Observability, connectionsLimit: Int,
        bodyBudget: BodyBudget
    ) {
        self.loops = loops
        self.health = health
        self.observability = observability
        self.connectionsLimit = connectionsLimit
        self.bodyBudget = bodyBudget
    }

    /// What all loops have counted, and the state of the process.
    func snapshot() async throws -> MetricsSnapshot {
        var snapshot = MetricsSnapshot()
        // A loop that is stuck would keep the others' values from those who need them most.
        for (loop, report) in zip(loops, health.loopReports) where report.secondsSinceTurn < Self.patience {
            snapshot.merge(
                try await loop.loop.submit {
                    var snapshot = MetricsSnapshot()
                    loop.value.collectMetrics(into: &snapshot)
                    return snapshot
                })
        }
        for loop in health.loopReports {
            snapshot.add(loop.secondsSinceTurn, to: .secondsSinceTurn, loop.name)
        }
        let report = health.report
        snapshot.add(connectionsLimit, to: .connectionsLimit)
        snapshot.add(bodyBudget.reservedBytes, to: .bodyBytes)
        snapshot.add(bodyBudget.limit, to: .bodyBytesLimit)
        snapshot.add(report.notReadyReason == nil ? 1 : 0, to: .ready)
        snapshot.add(report.isDraining ? 1 : 0, to: .draining)
        let places = DatabaseName.places.rawValue
        snapshot.add(report.isDatabaseReachable ? 1 : 0, to: .databaseReachable, places)
        if let isReachable = report.isEventsDatabaseReachable {
            snapshot.add(isReachable ? 1 : 0, to: .databaseReachable, DatabaseName.events.rawValue)
        }
        snapshot.add(1, to: .build, BuildInformation.version, BuildInformation.swift)
        observability.collectMetrics(into: &snapshot)
        ProcessMetrics.collect(into: &snapshot, start: observability.start)
        return snapshot
    }
}
