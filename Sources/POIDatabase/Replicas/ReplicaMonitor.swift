import EventLoop
import POIService
import Postgres

/// Looks at every server for reads once a second, and keeps a `ReadRoute` up to date.
///
/// Confined to its loop. `close` must be awaited before the primary's pool is closed.
final class ReplicaMonitor {
    private let route: ReadRoute
    /// Connections to `DATABASE_URL`, which tells how far a replica could be.
    private let primary: ConnectionPool
    private let record: @Sendable (Observation) -> Void
    private let loop: EventLoop
    private let probes: [ReplicaProbe]
    private var lags: [ReplicaLag]
    private var timer: LoopTimer?
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var taskCount = 0
    private var isAskingPrimary = false
    /// Where the primary was, and when that was seen.
    private var primaryPosition: (position: Int64, time: Duration)?

    private static let interval = Duration.seconds(1)

    init(route: ReadRoute, primary: ConnectionPool, record: @escaping @Sendable (Observation) -> Void) {
        self.route = route
        self.primary = primary
        self.record = record
        loop = primary.loop
        probes = route.endpoints.map { [loop] in ReplicaProbe(route.probe($0), loop: loop) }
        lags = Array(repeating: ReplicaLag(), count: probes.count)
        timer = LoopTimer(loop: loop) { [weak self] in self?.tick() }
        timer?.start(after: .zero, repeating: Self.interval)
    }

    /// Looks no more, and waits for what is under way.
    func close() async {
        timer?.close()
        timer = nil
        for task in tasks.values { task.cancel() }
        for task in tasks.values { await task.value }
        for probe in probes { await probe.close() }
    }

    private func tick() {
        let monitor = LoopBound(self, loop: loop)
        if !isAskingPrimary { run { await monitor.value.askPrimary() } }
        for (index, probe) in probes.enumerated() {
            guard let askedAt = probe.askedAt else {
                run { await monitor.value.ask(index) }
                continue
            }
            if loop.now - askedAt > ReplicaProbe.patience {
                take(index, .silence, reason: "no answer in time")
            }
        }
    }

    private func askPrimary() async {
        isAskingPrimary = true
        defer { isAskingPrimary = false }
        do throws(PostgresError) {
            let rows = try await primary.query(ReplicaProbe.position, timeout: ReplicaProbe.patience)
            let answer = try ReplicaProbe.Answer(rows.only())
            // Where DATABASE_URL leads to a standby, nobody knows how far the primary is.
            primaryPosition = answer.isStandby ? nil : (answer.sighting.replayed, loop.now)
            route.update(isPrimaryAnswering: true)
        } catch {
            primaryPosition = nil
            route.update(isPrimaryAnswering: false)
        }
    }

    private func ask(_ index: Int) async {
        do throws(PostgresError) {
            let answer = try await probes[index].ask()
            guard answer.isStandby else { return take(index, .primary) }
            let now = loop.now
            let isKnown = primaryPosition.map { now - $0.time <= Self.interval * 3 } ?? false
            let lag = lags[index].update(
                answer.sighting, primary: isKnown ? primaryPosition?.position : nil, now: now)
            take(index, .standby(lag: lag), lag: lag)
        } catch {
            take(index, .silence, reason: error.logText)
        }
    }

    private func take(
        _ index: Int, _ sighting: ReadServers.Sighting, lag: Duration = .zero, reason: String = ""
    ) {
        guard timer != nil else { return }
        let server = route.endpoints[index].description
        switch route.update(index, sighting, now: loop.now) {
        case nil, .unknown: break
        case .usable(let isStandby, _): record(.readServerUsable(server: server, isStandby: isStandby))
        case .lagging: record(.readServerLagging(server: server, lag: lag))
        case .silent: record(.readServerSilent(server: server, reason: reason))
        }
    }

    private func run(_ body: @escaping @Sendable () async -> Void) {
        taskCount += 1
        let number = taskCount
        let monitor = LoopBound(self, loop: loop)
        tasks[number] = Task(executorPreference: loop) {
            await body()
            monitor.value.tasks[number] = nil
        }
    }
}
