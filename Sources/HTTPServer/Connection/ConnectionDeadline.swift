import EventLoop

/// The deadline of a connection, which has one at a time.
///
/// The deadline changes with every request, but the timer rarely: it is started again only for an earlier deadline, and
/// when it fires too early it is started for the rest of the time. Confined to its loop.
final class ConnectionDeadline {
    private let loop: EventLoop
    private let onReached: (_ queuedWriteBytes: Int) -> Void
    private var timer: LoopTimer?
    private var timerFiresAt: Duration?
    private var deadline: Duration?
    private var queuedWriteBytes = 0

    /// - Parameter onReached: called at the deadline, with the number of bytes that were queued when it was set.
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

    /// Ends the timer. `onReached` is not called any more.
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
