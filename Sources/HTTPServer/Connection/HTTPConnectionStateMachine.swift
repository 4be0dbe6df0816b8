/// What a connection does next: keep-alive, pipelining, time-outs, errors, the end.
///
/// A value without a socket: it consumes events and answers actions, which its owner performs in their
/// order. One request is in flight at a time, later ones wait unread; so answers leave in order (RFC 9112
/// section 9.3.2). Whatever ends a connection after an answer does so by a half-close and a bounded reading
/// of what the client still sends: a close with unread bytes would reset the connection and could destroy
/// the answer before the client has read it (RFC 9112 section 9.6).
struct HTTPConnectionStateMachine {
    private(set) var state = State.created
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

    init(limits: HTTPLimits) {
        self.limits = limits
    }

    /// Whether the parser may look for more.
    var wantsInput: Bool {
        switch state {
        case .waiting, .readingHead, .readingBody: true
        case .created, .handling, .writing, .lingering, .closed: false
        }
    }

    /// Whether what comes in is of no use any more.
    var discardsInput: Bool {
        switch state {
        case .lingering, .closed, .writing(keepsAlive: false): true
        case .created, .waiting, .readingHead, .readingBody, .handling, .writing: false
        }
    }

    /// Consumes an event, and appends what is to be done about it.
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
        case .inputDiscarded(let bytes): inputDiscarded(bytes, &actions)
        case .responseProduced(let asksToClose): responseProduced(asksToClose, &actions)
        case .responseWritten(let isDrained): responseWritten(isDrained, &actions)
        case .responseCutOff: if case .writing = state { state = .writing(keepsAlive: false) }
        case .responseWithheld: if case .writing = state { reset(&actions) }
        case .drained:
            if case .writing(let keepsAlive) = state { finishWriting(keepsAlive, &actions) }
        case .deadlineReached(let progressed): deadlineReached(progressed, &actions)
        case .peerEnded: peerEnded(&actions)
        case .peerFailed, .closeRequested: end(&actions)
        case .keepAliveEnded: endsKeepAlive = true
        case .drainRequested(let inputWaits): drain(inputWaits, &actions)
        }
    }
}

// MARK: - Requests

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
        adjustReading(&actions)
        if isInRequest {
            if peerHasEnded { return fail(.truncated, &actions) }
            guard state == .waiting else { return }
            state = .readingHead
            // The first request's time counts from the accept, unless less was left for it to begin.
            if hasServed || isDraining { actions.append(.setDeadline(.head)) }
        } else if peerHasEnded || isDraining {
            leave(&actions)
        }
    }

    private mutating func headParsed(
        _ keepsAlive: Bool, _ bodyFollows: Bool, _ expectsContinue: Bool, _ actions: inout [Action]
    ) {
        guard state == .waiting || state == .readingHead else { return }
        state = .readingBody(keepsAlive: keepsAlive)
        guard bodyFollows else { return }
        actions.append(.setDeadline(.body))
        if expectsContinue { actions.append(.sendContinue) }
    }

    private mutating func requestParsed(_ actions: inout [Action]) {
        guard case .readingBody(let keepsAlive) = state else { return }
        state = .handling(keepsAlive: keepsAlive)
        hasServed = true
        actions.append(.clearDeadline)
        if peerHasEnded { probe(&actions) }
        actions.append(.dispatch)
    }

    /// Answers with an error in place of a request that can't be read; only the end is left then.
    private mutating func fail(_ error: HTTPError, _ actions: inout [Action]) {
        guard wantsInput else { return }
        state = .writing(keepsAlive: false)
        actions.append(.sendError(error))
    }

    private mutating func peerEnded(_ actions: inout [Action]) {
        peerHasEnded = true
        isReading = false
        switch state {
        case .waiting, .lingering: end(&actions)
        case .readingHead, .readingBody: fail(.truncated, &actions)
        // A half-close: what was received is still answered. An app that gave up and closed looks the same.
        case .handling: probe(&actions)
        // What is written probes too.
        case .created, .writing, .closed: break
        }
    }

    private mutating func probe(_ actions: inout [Action]) {
        guard takesInterim, !hasProbed else { return }
        hasProbed = true
        actions.append(.probePeer)
    }
}

// MARK: - Answers

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
        // A client that doesn't read is not read from.
        isHeldBack = true
        adjustReading(&actions)
        actions.append(.setDeadline(.write))
    }

    private mutating func finishWriting(_ keepsAlive: Bool, _ actions: inout [Action]) {
        isHeldBack = false
        if keepsAlive {
            state = .waiting
            adjustReading(&actions)
            actions.append(.setDeadline(.idle))
            actions.append(.parse)
        } else {
            leave(&actions)
        }
    }

    private mutating func inputDiscarded(_ bytes: Int, _ actions: inout [Action]) {
        guard case .lingering(let bytesLeft) = state else { return }
        guard bytes <= bytesLeft else { return end(&actions) }
        state = .lingering(bytesLeft: bytesLeft - bytes)
    }
}

// MARK: - Time and the end

extension HTTPConnectionStateMachine {
    private mutating func deadlineReached(_ progressed: Bool, _ actions: inout [Action]) {
        switch state {
        case .waiting where isDraining: leave(&actions)
        case .waiting where hasServed: end(&actions)
        case .waiting, .readingHead: fail(.headTimedOut, &actions)
        case .readingBody: fail(.bodyTimedOut, &actions)
        case .writing where progressed: actions.append(.setDeadline(.write))
        case .writing: reset(&actions)
        case .lingering: end(&actions)
        case .created, .handling, .closed: break
        }
    }

    /// A client that has just connected is about to ask, and one whose bytes wait has asked: both get their
    /// answer. One that is idle is left in order.
    private mutating func drain(_ inputWaits: Bool, _ actions: inout [Action]) {
        endsKeepAlive = true
        isDraining = true
        guard state == .waiting else { return }
        if !hasServed {
            actions.append(.setDeadline(.lastRequest))
        } else if !inputWaits {
            leave(&actions)
        }
    }

    /// Ends in order: says so, and reads on until the client has heard it, or for a while.
    private mutating func leave(_ actions: inout [Action]) {
        guard !peerHasEnded else { return end(&actions) }
        state = .lingering(bytesLeft: limits.lingerBytes)
        isHeldBack = false
        actions.append(.shutdownWriting)
        actions.append(.setDeadline(.linger))
        adjustReading(&actions)
    }

    private mutating func end(_ actions: inout [Action]) {
        if case .handling = state { actions.append(.cancelRequest) }
        state = .closed
        actions.append(.close)
    }

    private mutating func reset(_ actions: inout [Action]) {
        state = .closed
        actions.append(.reset)
    }

    /// Reads unless too much waits already, or the client itself doesn't read.
    private mutating func adjustReading(_ actions: inout [Action]) {
        let isLingering = if case .lingering = state { true } else { false }
        let shouldRead =
            !peerHasEnded && (isLingering || !isHeldBack && waitingBytes <= limits.pipelineBytes)
        guard shouldRead != isReading else { return }
        isReading = shouldRead
        actions.append(shouldRead ? .startReading : .stopReading)
    }
}
