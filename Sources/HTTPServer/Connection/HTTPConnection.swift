import EventLoop
import Locking

/// One client's connection. Performs the actions of its state machine with the stream, the parser, a timer and the
/// handler's task.
///
/// Confined to its loop. Its stream and its timer keep it alive until it has closed them.
final class HTTPConnection {
    let stream: TCPStream
    /// Whether the connection is refused: the client gets an error response, and its request isn't read.
    let isRefused: Bool
    let environment: HTTPServerEnvironment
    /// Every read asks it for the time.
    private let loop: EventLoop

    let parser: RequestParser
    private let onClosed: (HTTPConnection) -> Void
    let state: Confined<State>

    struct State {
        var actions: ActionQueue
        var context: RequestContext?
        var spareContext: RequestContext?
        var response: HTTPResponse?
        var input = InputBuffer()
        var output: [UInt8] = []
        var moreFollows = false
        /// Whether bytes are parsed that were just received, so that none wait.
        var isReceiving = false
        /// When the bytes that are parsed were there to be parsed, and the requests before them had their responses.
        var parsingSince: Int64 = 0
        var isFlushScheduled = false
        var deadline: ConnectionDeadline?
        var bodyBytesAtDeadline = 0
        /// The client's use of the loop; nil for a trusted proxy.
        var account: ClientAccount?
        /// Memory that is held for the client, without the body's.
        var heldBytes = 0
        var task: Task<Void, Never>?
        var isWriterBusy = false
    }

    init(
        stream: TCPStream, environment: HTTPServerEnvironment, isRefused: Bool,
        onClosed: @escaping (HTTPConnection) -> Void
    ) {
        self.stream = stream
        self.isRefused = isRefused
        self.environment = environment
        self.loop = environment.loop
        self.onClosed = onClosed
        self.parser = RequestParser(limits: environment.limits)
        state = Confined(State(actions: ActionQueue(limits: environment.limits)))
        state.value.account = environment.accounts.open(from: stream.remoteAddress)
        stream.maximumReadBytes = Self.readBytes
    }

    /// The size of a read, which also bounds what is kept of waiting requests, and that of a read of a body.
    private static let readBytes = 16 * 1024
    private static let bodyReadBytes = 64 * 1024

    /// - Parameter refusal: the error that a refused client gets.
    func start(refusal: HTTPError? = nil) {
        stream.onRead = { [self] in received($0) }
        stream.onEnd = { [self] in process(.peerEnded) }
        stream.onError = { [self] _ in process(.peerFailed) }
        stream.onDrained = { [self] in
            // More may follow what a handler has written.
            if !state.value.isWriterBusy {
                holdMemory()
                process(.drained)
            }
        }
        state.value.deadline = ConnectionDeadline(loop: environment.loop) { [self] queuedWriteBytes in
            process(.deadlineReached(progressed: hasProgressed(since: queuedWriteBytes)))
        }
        process(.connected(refusal: refusal))
    }

    var isHandling: Bool {
        if case .handling = state.value.actions.machine.state { true } else { false }
    }

    func endKeepAlive() {
        process(.keepAliveEnded)
    }

    /// Closes the connection after the response to a request that has begun or was received but not read.
    func drain() {
        process(.drainRequested(inputWaits: stream.hasUnreadInput))
    }

    func close() {
        process(.closeRequested)
    }

    func process(_ event: HTTPConnectionStateMachine.Event) {
        guard state.value.actions.handle(event) else { return }
        while let action = state.value.actions.next() { perform(action) }
    }

    private func perform(_ action: HTTPConnectionStateMachine.Action) {
        switch action {
        case .startReading: stream.startReading()
        case .stopReading: stream.stopReading()
        case .setDeadline(let kind):
            state.value.deadline?.set(
                milliseconds: environment.deadlines[kind], queuedWriteBytes: stream.queuedWriteBytes)
            if kind == .body { state.value.bodyBytesAtDeadline = parser.bodyByteCount }
        case .clearDeadline: state.value.deadline?.clear()
        case .parse: parseWaitingInput()
        case .yield: environment.turns.wait(self)
        case .sendContinue:
            flush()
            stream.write(ResponseEncoder.continueResponse)
        case .probePeer:
            flush()
            stream.watchForReset()
            stream.write(ResponseEncoder.processingResponse)
        case .dispatch: dispatch()
        case .cancelRequest: state.value.task?.cancel()
        case .sendError:
            if let error = state.value.actions.machine.failure { send(error) }
        case .sendResponse(let keepsAlive): sendResponse(keepsAlive: keepsAlive)
        case .shutdownWriting:
            state.value.input.removeAll()
            flush()
            holdMemory()
            stream.shutdownWriting()
        case .close:
            flush()
            release()
            stream.close { [self] in onClosed(self) }
        case .reset:
            release()
            stream.reset()
            onClosed(self)
        }
    }

    private func release() {
        state.value.deadline?.close()
        state.value.deadline = nil
        if state.value.isWriterBusy { state.value.task?.cancel() }
        state.value.input.removeAll()
        state.value.output = []
        holdMemory()
        if let account = state.value.account.take() { environment.accounts.close(account) }
    }

    /// Whether the client made enough progress before the deadline to get another one.
    private func hasProgressed(since queuedWriteBytes: Int) -> Bool {
        guard case .readingBody = state.value.actions.machine.state else {
            return stream.queuedWriteBytes < queuedWriteBytes
        }
        let wanted = Int64(environment.limits.bodyBytesPerSecond) * environment.deadlines[.body] / 1000
        return parser.bodyByteCount - state.value.bodyBytesAtDeadline >= Int(wanted)
    }

    /// Holds as much memory for the client as the connection takes now, and is about to take: none if it is closed. Returns
    /// false if that is too much, and then nothing changes.
    @discardableResult
    func holdMemory(forMore more: Int = 0) -> Bool {
        let bytes =
            state.value.actions.machine.state == .closed
            ? 0 : parser.unfinishedBytes + state.value.input.count + stream.queuedWriteBytes + more
        let change = bytes - state.value.heldBytes
        let client = state.value.account?.client
        if change > 0 {
            guard environment.memory.hold(change, for: client) else { return false }
        } else if change < 0 {
            environment.memory.release(-change, for: client)
        }
        state.value.heldBytes = bytes
        return true
    }

    private func received(_ bytes: RawSpan) {
        if state.value.actions.machine.discardsInput {
            process(.inputDiscarded(bytes: bytes.byteCount))
        } else if state.value.actions.machine.wantsInput {
            let turn = loop.nowMilliseconds
            if state.value.account?.isOverdrawn(in: turn) == true,
                state.value.actions.machine.state == .waiting, wait(bytes)
            {
                return process(.turnUsedUp)
            }
            let start = MonotonicClock.nanoseconds()
            state.value.parsingSince = start
            state.value.isReceiving = true
            let used = parse(bytes, from: 0)
            state.value.isReceiving = false
            keep(bytes.extracting(droppingFirst: used))
            if state.value.account != nil {
                // The clock is read first: an account that waits for it would be retained.
                let spent = MonotonicClock.nanoseconds() - start
                state.value.account?.spend(spent, in: turn)
            }
        } else {
            keep(bytes)
        }
    }

    private func keep(_ bytes: RawSpan) {
        guard !bytes.isEmpty else { return }
        if state.value.actions.machine.discardsInput {
            process(.inputDiscarded(bytes: bytes.byteCount))
        } else if !wait(bytes) {
            state.value.input.removeAll()
            holdMemory()
            process(.inputRefused)
        }
    }

    /// Keeps bytes until they are parsed; false if there is no memory for them.
    private func wait(_ bytes: RawSpan) -> Bool {
        guard holdMemory(forMore: bytes.byteCount) else { return false }
        state.value.input.append(bytes)
        process(.inputWaits(bytes: state.value.input.count))
        return true
    }

    private func parseWaitingInput() {
        // A caller further up the stack goes on with the bytes that it has received.
        guard !state.value.isReceiving else { return }
        state.value.parsingSince = MonotonicClock.nanoseconds()
        // The array is kept alive here: what is parsed may cause further input to be appended or dropped.
        let bytes = state.value.input.bytes
        let start = state.value.input.start
        let used = parse(bytes.span.bytes, from: start)
        state.value.input.consume(used - start)
        holdMemory()
        if !state.value.input.isEmpty, !state.value.actions.machine.discardsInput {
            process(.inputWaits(bytes: state.value.input.count))
        }
    }

    /// Returns the index in `bytes` where it stopped.
    private func parse(_ bytes: RawSpan, from start: Int) -> Int {
        var offset = start
        while state.value.actions.machine.wantsInput {
            switch parser.next(bytes, from: &offset) {
            case .needsMore(let isInRequest):
                if isInRequest, let refusal = holdUnfinished() {
                    process(.parseFailed(refusal))
                } else {
                    process(.inputExhausted(isInRequest: isInRequest))
                }
                return bytes.byteCount
            case .head:
                process(admission())
            case .body(let body):
                state.value.context?.complete(body)
                state.value.moreFollows = offset < bytes.byteCount
                process(.requestParsed)
            case .failure(let error):
                process(.parseFailed(refusal(ofMalformedRequest: error)))
            }
        }
        return offset
    }

    private func holdUnfinished() -> HTTPError? {
        do throws(HTTPError) {
            try state.value.context?.holdBody(parser.bodyByteCount)
            guard holdMemory() else { throw .overloaded(retryAfterSeconds: 1) }
            return nil
        } catch {
            return error
        }
    }

    /// Admits a request by its head. The event is a failure if the request is refused and a body follows.
    private func admission() -> HTTPConnectionStateMachine.Event {
        guard let head = parser.takeHead() else { return .parseFailed(.internalError) }
        stream.maximumReadBytes = head.framing == .none ? Self.readBytes : Self.bodyReadBytes
        let event = HTTPConnectionStateMachine.Event.headParsed(
            keepsAlive: head.keepsAlive, bodyFollows: head.framing != .none,
            expectsContinue: head.expectsContinue, takesInterim: head.version == .http11)
        let context = environment.makeContext(
            for: head, of: stream, since: state.value.parsingSince, using: state.value.spareContext.take())
        state.value.context = context
        do throws(HTTPError) {
            parser.maximumBodyBytes = try context.admit(head, by: environment)
        } catch {
            return .parseFailed(error)
        }
        return event
    }

    /// The error for a request whose head or body can't be read. The dispatcher may replace the error of a head.
    private func refusal(ofMalformedRequest error: HTTPError) -> HTTPError {
        guard state.value.context == nil else { return error }
        let context = environment.makeContext(id: parser.clientRequestID, remoteAddress: stream.remoteAddress)
        state.value.context = context
        return environment.dispatcher.refusal(ofMalformedRequest: context) ?? error
    }
}
