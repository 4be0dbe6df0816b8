import EventLoop
import HTTPServer
import Program
import Telemetry

/// Collects the process's metrics for a scrape. Until then each loop counts for itself.
struct MetricsCollector: Sendable {
    private let loops: [LoopBound<ServiceLoop>]
    private let health: Health
    private let observability: Observability
    private let connectionsLimit: Int
    private let memory: ClientMemory

    /// A loop that hasn't turned for this many seconds is left out.
    private static let maximumSecondsSinceTurn = 2.0

    /// - Parameter loops: the service loops, in the order of `health`.
    init(
        loops: [LoopBound<ServiceLoop>], health: Health, observability: Observability, connectionsLimit: Int,
        memory: ClientMemory
    ) {
        self.loops = loops
        self.health = health
        self.observability = observability
        self.connectionsLimit = connectionsLimit
        self.memory = memory
    }

    /// The metrics of all loops and of the process.
    ///
    /// - Throws: `EventLoopError` if a loop has stopped.
    func snapshot() async throws -> MetricsSnapshot {
        var snapshot = MetricsSnapshot()
        // Asking a stuck loop would block the scrape, just when the metrics are needed most.
        for (loop, report) in zip(loops, health.loopReports)
        where report.secondsSinceTurn < Self.maximumSecondsSinceTurn {
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
        snapshot.add(memory.heldBytes, to: .bodyBytes)
        snapshot.add(memory.limit, to: .bodyBytesLimit)
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
