import EventLoop

/// Asks the stores for their health again and again. Confined to the stores' loop.
final class HealthMonitor {
    private let store: any PlaceStore
    private let events: any EventStore
    private let health: Health
    private let observability: Observability
    private let onReport: (Health.Report) -> Void
    /// Apart from each other, so that one database doesn't wait for the other's time-out.
    private var checks: [RepeatedCheck] = []

    /// - Parameters:
    ///   - warmUp: what the first question waits for, and with it the process's being ready.
    ///   - onReport: told of the process's health after each answer.
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

    /// Asks for places once all is warm, for events at once, and from then on a while after each answer.
    func start() {
        for check in checks { check.start() }
    }

    /// Asks no more, and waits for the answers that are under way.
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

/// Runs a task again and again, a second after each end. Confined to its loop.
private final class RepeatedCheck {
    private let loop: EventLoop
    private let first: @Sendable () async -> Void
    private let body: @Sendable () async -> Void
    private var timer: LoopTimer?
    private var task: Task<Void, Never>?

    /// Half of the 2 s within which the service is to be ready again once its database is.
    private static let interval = Duration.seconds(1)

    /// - Parameter first: what goes before the first run.
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

    /// Begins no more, and waits for the run that is under way.
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
