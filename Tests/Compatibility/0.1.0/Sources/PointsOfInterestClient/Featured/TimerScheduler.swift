import Foundation

/// What timers are scheduled on: a run loop, or a test's stand-in that fires at once.
@MainActor
public protocol TimerScheduler: AnyObject {
    /// Schedules a timer, which then fires on the main thread.
    func add(_ timer: Timer, forMode mode: RunLoop.Mode)
}

/// Only the main thread's run loop, `RunLoop.main`, fires on the main thread.
extension RunLoop: TimerScheduler {}
