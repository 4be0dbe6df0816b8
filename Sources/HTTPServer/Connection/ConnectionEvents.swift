extension HTTPConnectionStateMachine {
    /// What happens to a connection.
    enum Event: Equatable {
        /// The connection was accepted; over capacity, it is only told so.
        indirect case connected(refusal: HTTPError? = nil)
        /// The parser used up all there is; `isInRequest` says whether a request has begun.
        case inputExhausted(isInRequest: Bool)
        /// `takesInterim` says whether the client knows interim answers: HTTP/1.0 doesn't (RFC 9110 section 15.2).
        case headParsed(keepsAlive: Bool, bodyFollows: Bool, expectsContinue: Bool, takesInterim: Bool = true)
        case requestParsed
        indirect case parseFailed(HTTPError)
        /// So many bytes wait behind the request in flight.
        case inputWaits(bytes: Int)
        /// So many bytes came that nobody will look at.
        case inputDiscarded(bytes: Int)
        case responseProduced(asksToClose: Bool)
        /// An answer was handed to the stream; `isDrained` says whether the system took all of it.
        case responseWritten(isDrained: Bool)
        /// The answer that is being sent ends before its end: nothing may follow that would be taken for the rest.
        case responseCutOff
        /// The answer that was to be sent is not.
        case responseWithheld
        /// The system took all that waited to be written.
        case drained
        /// The deadline passed; `progressed` says whether bytes left since it was set.
        case deadlineReached(progressed: Bool)
        /// The peer will send no more.
        case peerEnded
        /// The connection broke.
        case peerFailed
        /// Connections are to move elsewhere: from now on every answer is the last on its connection.
        case keepAliveEnded
        /// The server wants to end: no further request than what has begun, or has come in unread.
        case drainRequested(inputWaits: Bool = false)
        /// The server ends.
        case closeRequested
    }

    /// What is to be done about it.
    enum Action: Equatable {
        case startReading
        case stopReading
        case setDeadline(Deadline)
        case clearDeadline
        /// Parse what waits.
        case parse
        case sendContinue
        /// Send an interim answer, and watch for a reset: whether the client is gone or has only stopped sending,
        /// nothing but what it does about bytes tells.
        case probePeer
        /// Hand the request to the handler.
        case dispatch
        /// The answer has no reader any more.
        case cancelRequest
        /// Answer for the request or in place of one, and end the connection.
        indirect case sendError(HTTPError)
        case sendResponse(keepsAlive: Bool)
        case shutdownWriting
        case close
        /// Close so that nothing that waits to be written is kept.
        case reset
    }

    /// What has to happen before a time is over, see `HTTPTimeouts`.
    enum Deadline: Equatable {
        case head
        case body
        case idle
        case write
        case linger
        case lastRequest
    }

    /// Where a connection is.
    enum State: Equatable {
        case created
        /// Between requests, or before the first.
        case waiting
        case readingHead
        case readingBody(keepsAlive: Bool)
        case handling(keepsAlive: Bool)
        case writing(keepsAlive: Bool)
        case lingering(bytesLeft: Int)
        case closed
    }
}

/// A state machine and the actions that are still to be performed, in their order.
///
/// Performing an action may make the next event happen at once: its actions come behind those that wait, so
/// no action is performed inside another.
struct ActionQueue {
    typealias Event = HTTPConnectionStateMachine.Event
    typealias Action = HTTPConnectionStateMachine.Action

    private(set) var machine: HTTPConnectionStateMachine
    private var waiting: [Action] = []
    /// Memory for actions, used in turn with `waiting`.
    private var spare: [Action] = []
    private var isPerforming = false

    init(limits: HTTPLimits) {
        machine = HTTPConnectionStateMachine(limits: limits)
    }

    /// Tells the machine of an event; true where the caller is the one to perform what follows from it.
    mutating func handle(_ event: Event) -> Bool {
        machine.handle(event, into: &waiting)
        guard !isPerforming, !waiting.isEmpty else { return false }
        isPerforming = true
        return true
    }

    /// The next actions to perform; nil where none is left.
    mutating func next() -> [Action]? {
        guard !waiting.isEmpty else {
            isPerforming = false
            return nil
        }
        var batch: [Action] = []
        swap(&batch, &waiting)
        swap(&waiting, &spare)
        return batch
    }

    /// Takes back the memory of actions that were performed.
    mutating func recycle(_ batch: consuming [Action]) {
        batch.removeAll(keepingCapacity: true)
        spare = batch
    }
}
