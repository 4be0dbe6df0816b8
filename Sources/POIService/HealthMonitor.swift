import EventLoop

/// Asks a store for its health again and again. Confined to the store's loop.
final class HealthMonitor {
    private let loop: EventLoop
    private let store: any LocationStore
    private let health: Health
    private let observability: Observability
    private let warmUp: @Sendable () async -> Void
    private let onReport: (Health.Report) -> Void
    private var timer: LoopTimer?
    private var check: Task<Void, Never>?

    /// Half of the 2 s within which the service is to be ready again once its database is.
    private static let interval = Duration.seconds(1)

    /// - Parameters:
    ///   - warmUp: what the first question waits for, and with it the process's being ready.
    ///   - onReport: told of the process's health after each answer.
    init(
        loop: EventLoop, store: any LocationStore, health: Health, observability: Observability,
        warmUp: @escaping @Sendable () async -> Void, onReport: @escaping (Health.Report) -> Void
    ) {
        self.loop = loop
        self.store = store
        self.health = health
        self.observability = observability
        self.warmUp = warmUp
        self.onReport = onReport
    }

    /// Asks once all is warm, and from then on a while after each answer.
    func start() {
        timer = LoopTimer(loop: loop) { [self] in startCheck() }
        let monitor = LoopBound(self, loop: loop)
        check = Task(executorPreference: loop) {
            await monitor.value.warmUp()
            await monitor.value.runCheck()
        }
    }

    /// Asks no more, and waits for the answer that is under way.
    func stop() async {
        timer?.close()
        timer = nil
        await check?.value
        check = nil
    }

    private func startCheck() {
        let monitor = LoopBound(self, loop: loop)
        check = Task(executorPreference: loop) { await monitor.value.runCheck() }
    }

    private func runCheck() async {
        for news in health.update(await store.checkHealth()) { observability.record(news) }
        onReport(health.report)
        timer?.start(after: Self.interval)
    }
}
