/// Decides what a connection does next: keep-alive, pipelining, timeouts, errors, closing.
///
/// A value without a socket: it takes events and returns actions, which its owner performs in their order. One request
/// is in flight at a time and later ones wait unparsed, so that responses are sent in order (RFC 9112 section 9.3.2).
/// After some requests that waited for each other, the connection lets others go first.
/// After the last response the connection is half-closed, and what the client still sends is read and discarded for a
/// while: a close with unread bytes would reset the connection, and could destroy the response before the client has
/// read it (RFC 9112 section 9.6).
struct HTTPConnectionStateMachine {
    private(set) var state = State.created
    private(set) var failure: HTTPError?
    private let limits: HTTPLimits
    private var hasServed = false
    private var peerHasEnded = false
    private var takesInterim = false
    private var hasProbed = false
    private var endsKeepAlive = false
    private var isDraining = false
    private var isReading = false
    private var waitingBytes = 0
    private var isHeldBack = false
    private var requestsInARow = 0
    /// How many more times a body's deadline may be set.
    private var bodyPeriodsLeft = 0

    /// In how many periods a body's time is divided; in each of them enough of it has to arrive.
    static let bodyPeriods = 3

    init(limits: HTTPLimits) {
        self.limits = limits
    }

    var wantsInput: Bool {
        switch state {
        case .waiting, .readingHead, .readingBody: true
        case .created, .handling, .writing, .yielding, .lingering, .closed: false
        }
    }

    var discardsInput: Bool {
        switch state {
        case .lingering, .closed, .writing(keepsAlive: false): true
        case .created, .waiting, .readingHead, .readingBody, .handling, .writing, .yielding: false
        }
    }

    mutating func handle(_ event: Event, into actions: inout [Action]) {
        if state == .closed { return }
        switch event {
        case .connected(let refusal): connect(refusal, &actions)
        case .inputExhausted(let isInRequest): inputExhausted(isInRequest, &actions)
        case .headParsed(let keepsAlive, let bodyFollows, let expectsContinue, let takesInterim):
            self.takesInterim = takesInterim
            headParsed(keepsAlive, bodyFollows, expectsContinue, &actions)
        case .requestParsed: requestParsed(&actions)
        case .parseFailed(let error): fail(error, &actions)
        case .inputWaits(let bytes):
            waitingBytes = bytes
            adjustReading(&actions)
        case .inputRefused: refuseInput(&actions)
        case .turnUsedUp:
            guard state == .waiting else { return }
            yield(&actions)
        case .inputDiscarded(let bytes): inputDiscarded(bytes, &actions)
        case .responseProduced(let asksToClose): responseProduced(asksToClose, &actions)
        case .responseWritten(let isDrained): responseWritten(isDrained, &actions)
        case .responseWithheld: if case .writing = state { reset(&actions) }
        case .drained:
            if case .writing(let keepsAlive) = state { finishWriting(keepsAlive, &actions) }
        case .turnCame: if state == .yielding { goOn(&actions) }
        case .deadlineReached(let progressed): deadlineReached(progressed, &actions)
        case .peerEnded: peerEnded(&actions)
        case .peerFailed, .closeRequested: close(&actions)
        case .keepAliveEnded: endsKeepAlive = true
        case .drainRequested(let inputWaits): drain(inputWaits, &actions)
        }
    }
}

extension HTTPConnectionStateMachine {
    private mutating func connect(_ refusal: HTTPError?, _ actions: inout [Action]) {
        guard state == .created else { return }
        state = .waiting
        adjustReading(&actions)
        if let refusal {
            fail(refusal, &actions)
        } else {
            actions.append(.setDeadline(.head))
        }
    }

    private mutating func inputExhausted(_ isInRequest: Bool, _ actions: inout [Action]) {
        guard wantsInput else { return }
        waitingBytes = 0
        requestsInARow = 0
        adjustReading(&actions)
        if isInRequest {
            if peerHasEnded { return fail(.truncated, &actions) }
            guard state == .waiting else { return }
            state = .readingHead
            // The deadline of the first request was set at the accept, except while draining.
            if hasServed || isDraining { actions.append(.setDeadline(.head)) }
        } else if peerHasEnded || isDraining {
            linger(&actions)
        }
    }

    private mutating func headParsed(
        _ keepsAlive: Bool, _ bodyFollows: Bool, _ expectsContinue: Bool, _ actions: inout [Action]
    ) {
        guard state == .waiting || state == .readingHead else { return }
        state = .readingBody(keepsAlive: keepsAlive)
        guard bodyFollows else { return }
        bodyPeriodsLeft = Self.bodyPeriods - 1
        actions.append(.setDeadline(.body))
        if expectsContinue { actions.append(.sendContinue) }
    }

    private mutating func requestParsed(_ actions: inout [Action]) {
        guard case .readingBody(let keepsAlive) = state else { return }
        state = .handling(keepsAlive: keepsAlive)
        hasServed = true
        requestsInARow += 1
        actions.append(.clearDeadline)
        if peerHasEnded { probe(&actions) }
        actions.append(.dispatch)
    }

    private mutating func fail(_ error: HTTPError, _ actions: inout [Action]) {
        guard wantsInput else { return }
        state = .writing(keepsAlive: false)
        failure = error
        actions.append(.sendError)
    }

    private mutating func peerEnded(_ actions: inout [Action]) {
        peerHasEnded = true
        isReading = false
        switch state {
        case .waiting, .lingering: close(&actions)
        case .readingHead, .readingBody: fail(.truncated, &actions)
        // The client may have half-closed and wait for its response, or it may be gone: both look the same.
        case .handling: probe(&actions)
        // A response is being written, which finds out too.
        case .created, .writing, .yielding, .closed: break
        }
    }

    private mutating func probe(_ actions: inout [Action]) {
        guard takesInterim, !hasProbed else { return }
        hasProbed = true
        actions.append(.probePeer)
    }
}

extension HTTPConnectionStateMachine {
    private mutating func responseProduced(_ asksToClose: Bool, _ actions: inout [Action]) {
        guard case .handling(let keepsAlive) = state else { return }
        let staysOpen = keepsAlive && !asksToClose && !endsKeepAlive
        state = .writing(keepsAlive: staysOpen)
        actions.append(.sendResponse(keepsAlive: staysOpen))
    }

    private mutating func responseWritten(_ isDrained: Bool, _ actions: inout [Action]) {
        guard case .writing(let keepsAlive) = state else { return }
        if isDrained { return finishWriting(keepsAlive, &actions) }
        // The server doesn't read from a client that doesn't read.
        isHeldBack = true
        adjustReading(&actions)
        actions.append(.setDeadline(.write))
    }

    private mutating func finishWriting(_ keepsAlive: Bool, _ actions: inout [Action]) {
        isHeldBack = false
        guard keepsAlive else { return linger(&actions) }
        if requestsInARow < limits.requestsInARow {
            goOn(&actions)
        } else {
            yield(&actions)
        }
    }

    private mutating func yield(_ actions: inout [Action]) {
        state = .yielding
        adjustReading(&actions)
        actions.append(.clearDeadline)
        actions.append(.yield)
    }

    private mutating func goOn(_ actions: inout [Action]) {
        if state == .yielding { requestsInARow = 0 }
        state = .waiting
        adjustReading(&actions)
        actions.append(.setDeadline(hasServed ? .idle : .head))
        actions.append(.parse)
    }

    /// Drops waiting bytes: the request in flight gets its response, and its client may send the others again (RFC 9112
    /// section 9.3.2).
    private mutating func refuseInput(_ actions: inout [Action]) {
        waitingBytes = 0
        isHeldBack = true
        adjustReading(&actions)
        switch state {
        case .handling: state = .handling(keepsAlive: false)
        case .writing: state = .writing(keepsAlive: false)
        case .yielding: linger(&actions)
        case .created, .waiting, .readingHead, .readingBody, .lingering, .closed: break
        }
    }

    private mutating func inputDiscarded(_ bytes: Int, _ actions: inout [Action]) {
        guard case .lingering(let bytesLeft) = state else { return }
        guard bytes <= bytesLeft else { return close(&actions) }
        state = .lingering(bytesLeft: bytesLeft - bytes)
    }
}

extension HTTPConnectionStateMachine {
    private mutating func deadlineReached(_ progressed: Bool, _ actions: inout [Action]) {
        switch state {
        case .waiting where isDraining: linger(&actions)
        case .waiting where hasServed: close(&actions)
        case .waiting, .readingHead: fail(.headTimedOut, &actions)
        case .readingBody where progressed && bodyPeriodsLeft > 0:
            bodyPeriodsLeft -= 1
            actions.append(.setDeadline(.body))
        case .readingBody: fail(.bodyTimedOut, &actions)
        case .writing where progressed: actions.append(.setDeadline(.write))
        case .writing: reset(&actions)
        case .lingering: close(&actions)
        case .created, .handling, .yielding, .closed: break
        }
    }

    /// Closes an idle connection. A new connection may still send its first request, and bytes that were received but
    /// not read are a request: both get a response.
    private mutating func drain(_ inputWaits: Bool, _ actions: inout [Action]) {
        endsKeepAlive = true
        isDraining = true
        guard state == .waiting else { return }
        if !hasServed {
            actions.append(.setDeadline(.lastRequest))
        } else if !inputWaits {
            linger(&actions)
        }
    }

    /// Half-closes the connection, and reads until the client has closed it too, for a limited time.
    private mutating func linger(_ actions: inout [Action]) {
        guard !peerHasEnded else { return close(&actions) }
        state = .lingering(bytesLeft: limits.lingerBytes)
        isHeldBack = false
        actions.append(.shutdownWriting)
        actions.append(.setDeadline(.linger))
        adjustReading(&actions)
    }

    private mutating func close(_ actions: inout [Action]) {
        if case .handling = state { actions.append(.cancelRequest) }
        state = .closed
        actions.append(.close)
    }

    private mutating func reset(_ actions: inout [Action]) {
        state = .closed
        actions.append(.reset)
    }

    /// Reads unless too many bytes wait already, the client itself doesn't read, or others have their turn.
    private mutating func adjustReading(_ actions: inout [Action]) {
        let isLingering = if case .lingering = state { true } else { false }
        let mayRead = !isHeldBack && state != .yielding && waitingBytes <= limits.pipelineBytes
        let shouldRead = !peerHasEnded && (isLingering || mayRead)
        guard shouldRead != isReading else { return }
        isReading = shouldRead
        actions.append(shouldRead ? .startReading : .stopReading)
    }
}
