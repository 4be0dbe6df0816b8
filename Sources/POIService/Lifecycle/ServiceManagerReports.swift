import EventLoop

/// Keeps the service manager informed: ready, stopping, and alive in between. Confined to its loop.
final class ServiceManagerReports {
    private let manager: ServiceManager
    private let loops: [EventLoop]
    private var watchdog: LoopTimer?
    private var isReady = false
    private var isStopping = false
    private var awaitsLoops = false

    /// Starts to tell that the process turns, where the manager wants to know.
    ///
    /// - Parameter loops: all loops of the process, all of which have to turn.
    init(loop: EventLoop, loops: [EventLoop], manager: ServiceManager) {
        self.manager = manager
        self.loops = loops
        guard let timeout = manager.watchdogTimeout else { return }
        watchdog = LoopTimer(loop: loop) { [weak self] in self?.askLoops(on: loop) }
        // Half of it is what sd_watchdog_enabled(3) recommends.
        watchdog?.start(after: .zero, repeating: timeout / 2)
    }

    /// Takes note of the process's health.
    func update(_ report: Health.Report) {
        guard !isReady, !isStopping else { return }
        if let reason = report.notReadyReason {
            manager.send(.status(reason))
        } else {
            isReady = true
            manager.send(.ready, .status("Serving."))
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

    /// One loop that hangs is enough for the process to be of no use: all of them have to answer.
    private func askLoops(on loop: EventLoop) {
        guard !awaitsLoops else { return }
        awaitsLoops = true
        let reports = LoopBound(self, loop: loop)
        Task(executorPreference: loop) {
            for other in reports.value.loops { try? await other.submit {} }
            reports.value.manager.send(.watchdog)
            reports.value.awaitsLoops = false
        }
    }
}
