import EventLoop

/// The one deadline that a connection has at a time.
///
/// A deadline moves with every request, the timer behind it rarely: it is set anew only for an earlier
/// deadline, and where it fires too early it is set for the rest. Confined to its loop.
final class ConnectionDeadline {
    private let loop: EventLoop
    private let onReached: (_ queuedWriteBytes: Int) -> Void
    private var timer: LoopTimer?
    private var timerFiresAt: Duration?
    private var deadline: Duration?
    private var queuedWriteBytes = 0

    /// - Parameter onReached: told how many bytes waited to be written when the deadline was set.
    init(loop: EventLoop, onReached: @escaping (_ queuedWriteBytes: Int) -> Void) {
        self.loop = loop
        self.onReached = onReached
        timer = LoopTimer(loop: loop) { [self] in timerFired() }
    }

    func set(_ duration: Duration, queuedWriteBytes: Int) {
        self.queuedWriteBytes = queuedWriteBytes
        let deadline = loop.now + duration
        self.deadline = deadline
        if let timerFiresAt, timerFiresAt <= deadline { return }
        timerFiresAt = deadline
        timer?.start(after: duration)
    }

    func clear() {
        deadline = nil
    }

    /// Ends the timer; the deadline is never reached then.
    func close() {
        deadline = nil
        timer?.close()
        timer = nil
    }

    private func timerFired() {
        timerFiresAt = nil
        guard let deadline else { return }
        let rest = deadline - loop.now
        if rest > .zero {
            timerFiresAt = deadline
            timer?.start(after: rest)
        } else {
            self.deadline = nil
            onReached(queuedWriteBytes)
        }
    }
}
