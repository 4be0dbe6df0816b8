import EventLoop

/// Keeps the service manager informed: ready, stopping, and alive in between. Confined to its loop.
final class ServiceManagerReports {
    private let manager: ServiceManager
    private let health: Health
    private var watchdog: LoopTimer?
    private var isReady = false
    private var lastReason: String?
    private var isStopping = false

    /// Starts to tell that the process turns, where the manager wants to know.
    ///
    /// - Parameter health: knows the loops of the process, all of which have to turn: one that is stuck is enough for
    ///   the process to be of no use.
    init(loop: EventLoop, health: Health, manager: ServiceManager) {
        self.manager = manager
        self.health = health
        guard let timeout = manager.watchdogTimeout else { return }
        watchdog = LoopTimer(loop: loop) { [weak self] in
            guard let self, self.health.allLoopsTurn(within: timeout) else { return }
            self.manager.send(.watchdog)
        }
        // Half of it is what sd_watchdog_enabled(3) recommends.
        watchdog?.start(after: .zero, repeating: timeout / 2)
    }

    /// Takes note of the process's health. A manager that has no room for a message is told again the next time.
    func update(_ report: Health.Report) {
        guard !isReady, !isStopping else { return }
        if let reason = report.notReadyReason {
            guard reason != lastReason else { return }
            if manager.send(.status(reason)) { lastReason = reason }
        } else {
            isReady = manager.send(.ready, .status("Serving."))
        }
    }

    /// The process has begun to end.
    func stop() {
        isStopping = true
        manager.send(.stopping, .status("Shutting down."))
    }

    /// Tells nothing any more.
    func close() {
        watchdog?.close()
        watchdog = nil
    }
}
