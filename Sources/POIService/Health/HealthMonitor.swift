import EventLoop
import Places
import Telemetry

/// Checks the health of the stores every second. Confined to the stores' loop.
final class HealthMonitor {
    private let store: any PlaceStore
    private let events: any EventStore
    private let health: Health
    private let observability: Observability
    private let onReport: (Health.Report) -> Void
    /// One check for each database, so that a timeout of one doesn't delay the check of the other.
    private var checks: [RepeatedCheck] = []

    /// - Parameters:
    ///   - warmUp: runs before the first check of places, so that the process isn't ready earlier.
    ///   - onReport: called with the process's health after each check of places.
    init(
        loop: EventLoop, store: any PlaceStore, events: any EventStore, health: Health,
        observability: Observability,
        warmUp: @escaping @Sendable () async -> Void, onReport: @escaping (Health.Report) -> Void
    ) {
        self.store = store
        self.events = events
        self.health = health
        self.observability = observability
        self.onReport = onReport
        let monitor = LoopBound(self, loop: loop)
        checks = [
            RepeatedCheck(loop: loop, first: warmUp) { await monitor.value.checkPlaces() },
            RepeatedCheck(loop: loop, first: {}) { await monitor.value.checkEvents() },
        ]
    }

    /// Starts the checks: of places after the warm-up, of events at once.
    func start() {
        for check in checks { check.start() }
    }

    /// Stops the checks, and waits for those that are running.
    func stop() async {
        for check in checks { await check.stop() }
        checks = []
    }

    private func checkPlaces() async {
        for news in health.update(await store.checkHealth()) { observability.record(news) }
        onReport(health.report)
    }

    private func checkEvents() async {
        guard let state = await events.checkHealth() else { return }
        for news in health.updateEvents(state) { observability.record(news) }
    }
}

/// Runs a task again one second after it has ended. Confined to its loop.
private final class RepeatedCheck {
    private let loop: EventLoop
    private let first: @Sendable () async -> Void
    private let body: @Sendable () async -> Void
    private var timer: LoopTimer?
    private var task: Task<Void, Never>?

    /// The service has to be ready within 2 s after its database is. This pause takes half of that, and a check may
    /// take the other half.
    private static let interval = Duration.seconds(1)

    /// - Parameter first: runs before the first run.
    init(
        loop: EventLoop, first: @escaping @Sendable () async -> Void,
        body: @escaping @Sendable () async -> Void
    ) {
        self.loop = loop
        self.first = first
        self.body = body
    }

    func start() {
        timer = LoopTimer(loop: loop) { [self] in run {} }
        run(first)
    }

    /// Starts no more runs, and waits for the one that is running.
    func stop() async {
        timer?.close()
        timer = nil
        await task?.value
        task = nil
    }

    private func run(_ first: @escaping @Sendable () async -> Void) {
        let check = LoopBound(self, loop: loop)
        task = Task(executorPreference: loop) {
            await first()
            await check.value.runBody()
        }
    }

    private func runBody() async {
        await body()
        timer?.start(after: Self.interval)
    }
}
