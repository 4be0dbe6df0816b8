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
