import EventLoop
import Synchronization
import Telemetry

/// When an event loop has last turned. The loop writes it, and the threads that watch the loop read it.
///
/// Any thread.
package final class LoopPulse: Sendable {
    /// The loop's name in metrics.
    package let name: String
    private let lastNanoseconds = Atomic(MonotonicClock.nanoseconds())

    /// Starts with a beat now.
    package init(name: String) {
        self.name = name
    }

    /// Records that the loop turns.
    func beat() {
        lastNanoseconds.store(MonotonicClock.nanoseconds(), ordering: .relaxed)
    }

    /// The time since the last beat: in a healthy loop, up to the interval of `EventLoopLag`.
    var age: Duration {
        .nanoseconds(max(0, MonotonicClock.nanoseconds() - lastNanoseconds.load(ordering: .relaxed)))
    }
}

/// Measures how late a loop's timers fire, which is how long everything else that is ready waits, and sends the loop's
/// beats. Confined to its loop.
final class EventLoopLag {
    private(set) var durations = Histogram(
        bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5])
    private var timer: LoopTimer?
    private let pulse: LoopPulse
    private var lastNanoseconds = MonotonicClock.nanoseconds()

    private static let interval = Duration.milliseconds(500)
    private static let intervalSeconds = 0.5

    /// Starts measuring.
    init(loop: EventLoop, pulse: LoopPulse) {
        self.pulse = pulse
        timer = LoopTimer(loop: loop) { [weak self] in self?.timerFired() }
        timer?.start(after: Self.interval)
    }

    /// Stops measuring.
    func close() {
        timer?.close()
        timer = nil
    }

    private func timerFired() {
        pulse.beat()
        let now = MonotonicClock.nanoseconds()
        durations.record(max(0, Double(now - lastNanoseconds) * 1e-9 - Self.intervalSeconds))
        lastNanoseconds = now
        timer?.start(after: Self.interval)
    }
}
