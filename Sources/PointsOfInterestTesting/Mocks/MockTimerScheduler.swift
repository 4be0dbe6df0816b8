import Foundation

/// A scheduler whose timers fire at once, or when a test says so, and never by themselves.
@MainActor
public final class MockTimerScheduler: TimerScheduler {
    /// Whether timers fire within `add`.
    public var firesAtOnce: Bool
    /// The timers that were added, in order.
    public private(set) var timers: [Timer] = []
    /// The delay in seconds that each timer was added with: a repeating one's interval, exactly; of one that
    /// fires once what was left of it.
    public private(set) var delays: [TimeInterval] = []

    /// Makes a scheduler.
    public init(firesAtOnce: Bool = true) {
        self.firesAtOnce = firesAtOnce
    }

    /// Takes note of a timer's delay and fires it once, or keeps it.
    public func add(_ timer: Timer, forMode mode: RunLoop.Mode) {
        timers.append(timer)
        delays.append(timer.timeInterval > 0 ? timer.timeInterval : timer.fireDate.timeIntervalSinceNow)
        if firesAtOnce { timer.fire() }
    }

    /// Fires every timer that is still valid, as if its delay had passed.
    public func fire() {
        for timer in timers where timer.isValid { timer.fire() }
    }
}
