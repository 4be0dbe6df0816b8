import EventLoop

/// The deadline of a connection, which has one at a time.
///
/// The deadline changes with every request, but the timer rarely: it is started again only for an earlier deadline, and
/// when it fires too early it is started for the rest of the time. Confined to its loop.
final class ConnectionDeadline {
    private let loop: EventLoop
    private let onReached: (_ queuedWriteBytes: Int) -> Void
    private var timer: LoopTimer?
    /// In milliseconds of the loop's clock; nil if it isn't started.
    private var timerFiresAt: Int64?
    private var deadline: Int64?
    private var queuedWriteBytes = 0

    /// - Parameter onReached: called at the deadline, with the number of bytes that were queued when it was set.
    init(loop: EventLoop, onReached: @escaping (_ queuedWriteBytes: Int) -> Void) {
        self.loop = loop
        self.onReached = onReached
        timer = LoopTimer(loop: loop) { [self] in timerFired() }
    }

    func set(milliseconds: Int64, queuedWriteBytes: Int) {
        self.queuedWriteBytes = queuedWriteBytes
        let deadline = loop.nowMilliseconds + milliseconds
        self.deadline = deadline
        if let timerFiresAt, timerFiresAt <= deadline { return }
        start(until: deadline, after: milliseconds)
    }

    private func start(until deadline: Int64, after milliseconds: Int64) {
        timerFiresAt = deadline
        timer?.start(after: .milliseconds(milliseconds))
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
        let rest = deadline - loop.nowMilliseconds
        if rest > 0 {
            start(until: deadline, after: rest)
        } else {
            self.deadline = nil
            onReached(queuedWriteBytes)
        }
    }
}
