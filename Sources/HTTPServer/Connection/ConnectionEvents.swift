import EventLoop

extension HTTPConnectionStateMachine {
    enum Event: Equatable {
        /// The connection was accepted. With a refusal, the client gets only this error.
        indirect case connected(refusal: HTTPError? = nil)
        /// The parser has used all bytes. `isInRequest`: whether it is inside a request.
        case inputExhausted(isInRequest: Bool)
        /// `takesInterim`: whether the client knows interim responses, which HTTP/1.0 doesn't (RFC 9110 section 15.2).
        case headParsed(keepsAlive: Bool, bodyFollows: Bool, expectsContinue: Bool, takesInterim: Bool = true)
        case requestParsed
        indirect case parseFailed(HTTPError)
        /// Number of bytes that wait behind the request in flight.
        case inputWaits(bytes: Int)
        /// There is no memory for bytes that have to wait: the request in flight is the last.
        case inputRefused
        /// Bytes were received while it is others' turn.
        case turnUsedUp
        case inputDiscarded(bytes: Int)
        case responseProduced(asksToClose: Bool)
        /// A response was written to the stream. `isDrained`: whether the system took all of it.
        case responseWritten(isDrained: Bool)
        /// The response isn't sent; the connection is to be reset instead.
        case responseWithheld
        case drained
        case turnCame
        /// The deadline passed. `progressed`: whether since it was set the system took queued bytes, or enough of a body came.
        case deadlineReached(progressed: Bool)
        case peerEnded
        case peerFailed
        case keepAliveEnded
        /// The server shuts down: only requests that have begun, or were received but not read, are served.
        case drainRequested(inputWaits: Bool = false)
        case closeRequested
    }

    /// What the connection has to do. Without references, so that actions are queued and performed at little cost.
    enum Action: Equatable {
        case startReading
        case stopReading
        case setDeadline(Deadline)
        case clearDeadline
        case parse
        /// Let other connections go first. `turnCame` follows.
        case yield
        case sendContinue
        /// Send an interim response, and watch for a reset. A client that is gone resets the connection; one that only
        /// stopped sending doesn't. There is no other way to find out.
        case probePeer
        case dispatch
        /// Cancel the handler's task: nobody will read the response.
        case cancelRequest
        case sendError
        case sendResponse(keepsAlive: Bool)
        case shutdownWriting
        case close
        /// Close with a reset, and drop queued bytes.
        case reset
    }

    enum Deadline: Equatable {
        case head, body, idle, write, linger, lastRequest
    }

    enum State: Equatable {
        case created
        /// Between requests, or before the first.
        case waiting
        case readingHead
        case readingBody(keepsAlive: Bool)
        case handling(keepsAlive: Bool)
        case writing(keepsAlive: Bool)
        /// Between two requests, while others have their turn.
        case yielding
        case lingering(bytesLeft: Int)
        case closed
    }
}

/// A state machine and the actions that are still to be performed, in their order.
///
/// Performing an action may cause another event at once. The actions of that event are queued behind those that wait,
/// so that no action is performed inside another.
struct ActionQueue {
    typealias Event = HTTPConnectionStateMachine.Event
    typealias Action = HTTPConnectionStateMachine.Action

    private(set) var machine: HTTPConnectionStateMachine
    private var actions: [Action] = []
    private var takenCount = 0
    private var isPerforming = false

    init(limits: HTTPLimits) {
        machine = HTTPConnectionStateMachine(limits: limits)
    }

    /// Returns whether the caller has to perform the actions; otherwise a caller further up does.
    mutating func handle(_ event: Event) -> Bool {
        machine.handle(event, into: &actions)
        guard !isPerforming, !actions.isEmpty else { return false }
        isPerforming = true
        return true
    }

    mutating func next() -> Action? {
        guard takenCount < actions.count else {
            // There are one or two; to remove all at once costs more.
            while !actions.isEmpty { actions.removeLast() }
            takenCount = 0
            isPerforming = false
            return nil
        }
        defer { takenCount += 1 }
        return actions[takenCount]
    }
}

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

    /// `onReached` is not called any more.
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
