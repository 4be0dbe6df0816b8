import EventLoop
import Synchronization

/// When an event loop turned last, for those who watch it from other threads.
///
/// Any thread.
package final class LoopPulse: Sendable {
    /// Tells the loop from others.
    package let name: String
    private let lastNanoseconds = Atomic(MonotonicClock.nanoseconds())

    /// A loop that is taken to have turned right now.
    package init(name: String) {
        self.name = name
    }

    /// Takes note that the loop turns.
    func beat() {
        lastNanoseconds.store(MonotonicClock.nanoseconds(), ordering: .relaxed)
    }

    /// How long the loop hasn't told that it turns: up to the interval of `EventLoopLag` where all is well.
    var age: Duration {
        .nanoseconds(max(0, MonotonicClock.nanoseconds() - lastNanoseconds.load(ordering: .relaxed)))
    }
}

/// Measures how late a loop comes to its timers, which is how long whatever is ready waits for it, and keeps the loop's
/// pulse. Confined to its loop.
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

    /// Measures no more.
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
