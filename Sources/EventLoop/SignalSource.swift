import CLibUV

/// A POSIX signal as an event of a loop, in place of the signal's default effect.
///
/// Confined to the loop's thread. Several loops may watch the same signal: each is told.
public final class SignalSource {
    private let box: HandleBox<uv_signal_t, SignalSource>
    private let onSignal: () -> Void

    /// Watches `signal` (SIGTERM, SIGINT, SIGHUP, …) until `close()`.
    ///
    /// - Throws: `EventLoopError`, `EINVAL` for a signal that can't be caught.
    public init(loop: EventLoop, signal: Int32, _ onSignal: @escaping () -> Void) throws {
        box = try HandleBox(loop: loop, uv_signal_init)
        self.onSignal = onSignal
        let status = uv_signal_start(
            box.raw, { raw, _ in HandleBox<uv_signal_t, SignalSource>.owner(of: raw)?.onSignal() },
            signal)
        guard status == 0 else {
            box.close()
            throw EventLoopError(code: status)
        }
        box.attach(self)
    }

    /// Stops watching; the signal has its default effect again once nobody watches it.
    public func close() {
        box.close()
    }
}
