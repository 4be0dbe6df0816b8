import CLibUV

/// A timer of a loop, with the loop's resolution of a millisecond.
///
/// Confined to the loop's thread. Not called `Timer`, which is Foundation's.
public final class LoopTimer {
    private let box: HandleBox<uv_timer_t, LoopTimer>
    private let onFire: () -> Void

    /// Makes a timer that is not started. It lives until `close()`, whoever else holds it.
    public init(loop: EventLoop, _ onFire: @escaping () -> Void) {
        do {
            box = try HandleBox(loop: loop, uv_timer_init)
        } catch {
            // uv_timer_init always answers 0 (libuv's documentation and source).
            preconditionFailure("uv_timer_init: \(error)")
        }
        self.onFire = onFire
        box.attach(self)
    }

    /// Starts the timer, or starts it anew. A negative time counts as zero.
    ///
    /// - Parameters:
    ///   - after: the time to the first call, rounded up to milliseconds.
    ///   - repeating: the time between further calls; none where it is nil.
    public func start(after: Duration, repeating: Duration? = nil) {
        guard box.isOpen else { return }
        uv_timer_start(
            box.raw, { raw in HandleBox<uv_timer_t, LoopTimer>.owner(of: raw)?.onFire() },
            after.roundedUpMilliseconds, repeating?.roundedUpMilliseconds ?? 0)
    }

    /// Stops the timer; it can be started again.
    public func stop() {
        guard box.isOpen else { return }
        uv_timer_stop(box.raw)
    }

    /// Ends the timer for good. A second call does nothing.
    public func close() {
        box.close()
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, at least 0: a timer must not fire early.
    var roundedUpMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let attosecondsPerMillisecond: Int64 = 1_000_000_000_000_000
        let fraction = (attoseconds + attosecondsPerMillisecond - 1) / attosecondsPerMillisecond
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
        return overflow ? .max : whole.addingReportingOverflow(UInt64(fraction)).partialValue
    }
}
