import EventLoop
import Postgres
import Telemetry

/// Probes every server for reads twice per `ReadRoute.silenceLimit`, and keeps a `ReadRoute` up to date.
///
/// Confined to its loop. `close` must be awaited before the primary's pool is closed.
final class ReplicaMonitor {
    private let route: ReadRoute
    /// Connections to `DATABASE_URL`, whose position tells how far a replica could be.
    private let primary: ConnectionPool
    private let record: @Sendable (Observation) -> Void
    private let loop: EventLoop
    private let probes: [ReplicaProbe]
    private var lags: [ReplicaLag]
    private var timer: LoopTimer?
    private let tasks: LoopTasks
    private var isReadingPrimary = false
    /// The primary's position in the log, and when it was read.
    private var primaryPosition: (position: Int64, time: Duration)?

    /// The primary's position is no longer used once it is older than this.
    private static let maximumPositionAge = Duration.seconds(3)

    init(route: ReadRoute, primary: ConnectionPool, record: @escaping @Sendable (Observation) -> Void) {
        self.route = route
        self.primary = primary
        self.record = record
        loop = primary.loop
        tasks = LoopTasks(loop: loop)
        probes = route.endpoints.map { [loop] in ReplicaProbe(route.probe($0), loop: loop) }
        lags = Array(repeating: ReplicaLag(), count: probes.count)
        timer = LoopTimer(loop: loop) { [weak self] in self?.tick() }
        timer?.start(after: .zero, repeating: route.silenceLimit / 2)
    }

    /// Stops probing, and waits for the end of what is under way.
    func close() async {
        timer?.close()
        timer = nil
        await tasks.end()
        for probe in probes { await probe.close() }
    }

    private func tick() {
        let monitor = LoopBound(self, loop: loop)
        if !isReadingPrimary { tasks.start { await monitor.value.readPrimary() } }
        for (index, probe) in probes.enumerated() {
            guard let begunAt = probe.begunAt else {
                tasks.start { await monitor.value.probe(index) }
                continue
            }
            probe.tickCount += 1
            if probe.isSilent || loop.now - begunAt > ReplicaProbe.timeout {
                take(index, .noResponse, reason: "no response in time")
            }
        }
    }

    private func readPrimary() async {
        isReadingPrimary = true
        defer { isReadingPrimary = false }
        do throws(PostgresError) {
            let rows = try await primary.query(ReplicaProbe.position, timeout: ReplicaProbe.timeout)
            let state = try ReplicaProbe.ServerState(rows.only())
            // Where DATABASE_URL leads to a standby, the primary's position isn't known.
            primaryPosition = state.isStandby ? nil : (state.progress.replayed, loop.now)
            route.update(isPrimaryResponding: true)
        } catch {
            primaryPosition = nil
            route.update(isPrimaryResponding: false)
        }
    }

    private func probe(_ index: Int) async {
        do throws(PostgresError) {
            let state = try await probes[index].run()
            guard state.isStandby else { return take(index, .primary) }
            let now = loop.now
            let isKnown = primaryPosition.map { now - $0.time <= Self.maximumPositionAge } ?? false
            let lag = lags[index].update(
                state.progress, primary: isKnown ? primaryPosition?.position : nil, now: now)
            take(index, .standby(lag: lag), lag: lag)
        } catch {
            take(index, .noResponse, reason: error.logText)
        }
    }

    private func take(
        _ index: Int, _ result: ReadServers.ProbeResult, lag: Duration = .zero, reason: String = ""
    ) {
        guard timer != nil else { return }
        let server = route.endpoints[index].description
        switch route.update(index, result, now: loop.now) {
        case nil, .unknown: break
        case .usable(let isStandby, _): record(.readServerUsable(server: server, isStandby: isStandby))
        case .lagging: record(.readServerLagging(server: server, lag: lag))
        case .silent: record(.readServerSilent(server: server, reason: reason))
        }
    }
}
