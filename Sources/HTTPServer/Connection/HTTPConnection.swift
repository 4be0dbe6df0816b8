import EventLoop

/// One client's connection. Performs the actions of its state machine with the stream, the parser, a timer and the
/// handler's task.
///
/// Confined to its loop. Its stream and its timer keep it alive until it has closed them.
final class HTTPConnection {
    let stream: TCPStream
    /// Whether the connection is refused: the client gets an error response, and its request isn't read.
    let isRefused: Bool
    let environment: HTTPServerEnvironment
    private var context: RequestContext?
    /// The rest of a response that is sent piece by piece.
    var drip: DrippedOutput?

    private let parser: RequestParser
    private let onClosed: (HTTPConnection) -> Void
    private var actions: ActionQueue
    private var input = InputBuffer()
    private var output: [UInt8] = []
    private var isFlushScheduled = false
    private var deadline: ConnectionDeadline?
    private var task: Task<Void, Never>?

    /// While more requests wait, responses are sent together, up to this number of bytes.
    private static let batchBytes = 64 * 1024

    init(
        stream: TCPStream, environment: HTTPServerEnvironment, isRefused: Bool,
        onClosed: @escaping (HTTPConnection) -> Void
    ) {
        self.stream = stream
        self.isRefused = isRefused
        self.environment = environment
        self.onClosed = onClosed
        self.parser = RequestParser(limits: environment.limits)
        self.actions = ActionQueue(limits: environment.limits)
    }

    /// Starts to serve the client.
    ///
    /// - Parameter refusal: the error that a refused client gets.
    func start(refusal: HTTPError? = nil) {
        stream.onRead = { [self] in received($0) }
        stream.onEnd = { [self] in process(.peerEnded) }
        stream.onError = { [self] _ in process(.peerFailed) }
        stream.onDrained = { [self] in
            // A response that is sent in pieces isn't written yet when a piece is.
            if drip == nil { process(.drained) }
        }
        deadline = ConnectionDeadline(loop: environment.loop) { [self] queuedWriteBytes in
            process(.deadlineReached(progressed: stream.queuedWriteBytes < queuedWriteBytes))
        }
        process(.connected(refusal: refusal))
    }

    /// Whether a handler runs.
    var isHandling: Bool {
        if case .handling = machine.state { true } else { false }
    }

    /// Closes the connection after its next response.
    func endKeepAlive() {
        process(.keepAliveEnded)
    }

    /// Closes the connection after the response to a request that has begun or was received but not read.
    func drain() {
        process(.drainRequested(inputWaits: stream.hasUnreadInput))
    }

    /// Closes the connection now.
    func close() {
        process(.closeRequested)
    }

    // MARK: Events and actions

    private var machine: HTTPConnectionStateMachine {
        _read { yield actions.machine }
    }

    /// Passes an event to the state machine, and performs the actions that follow.
    func process(_ event: HTTPConnectionStateMachine.Event) {
        guard actions.handle(event) else { return }
        while let batch = actions.next() {
            for action in batch { perform(action) }
            actions.recycle(batch)
        }
    }

    private func perform(_ action: HTTPConnectionStateMachine.Action) {
        switch action {
        case .startReading: stream.startReading()
        case .stopReading: stream.stopReading()
        case .setDeadline(let kind):
            deadline?.set(environment.timeouts[kind], queuedWriteBytes: stream.queuedWriteBytes)
        case .clearDeadline: deadline?.clear()
        case .parse: parseWaitingInput()
        case .sendContinue:
            flush()
            stream.write(ResponseEncoder.continueResponse)
        case .probePeer:
            flush()
            stream.watchForReset()
            stream.write(ResponseEncoder.processingResponse)
        case .dispatch: dispatch()
        case .cancelRequest: task?.cancel()
        case .sendError(let error): send(error)
        case .sendResponse(let keepsAlive): sendResponse(keepsAlive: keepsAlive)
        case .shutdownWriting:
            input.removeAll()
            flush()
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
        deadline?.close()
        deadline = nil
        drip?.cancel()
        drip = nil
        input.removeAll()
        output = []
    }

    // MARK: Input

    private func received(_ bytes: UnsafeRawBufferPointer) {
        if machine.discardsInput {
            process(.inputDiscarded(bytes: bytes.count))
        } else if machine.wantsInput {
            let used = parse(bytes, from: 0)
            keep(UnsafeRawBufferPointer(rebasing: bytes[used...]))
        } else {
            keep(bytes)
        }
    }

    private func keep(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        if machine.discardsInput {
            process(.inputDiscarded(bytes: bytes.count))
        } else {
            input.append(bytes)
            process(.inputWaits(bytes: input.count))
        }
    }

    private func parseWaitingInput() {
        let bytes = input.bytes
        let start = input.start
        let used = bytes.withUnsafeBytes { parse($0, from: start) }
        input.consume(used - start)
        if !input.isEmpty, !machine.discardsInput { process(.inputWaits(bytes: input.count)) }
    }

    /// Parses up to the end of a request.
    ///
    /// - Returns: the index in `bytes` where it stopped.
    private func parse(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var offset = start
        while machine.wantsInput {
            switch parser.next(bytes, from: &offset) {
            case .needsMore(let isInRequest):
                process(.inputExhausted(isInRequest: isInRequest))
                return bytes.count
            case .head(let head):
                process(admission(of: head))
            case .body(let body):
                context?.complete(body)
                process(.requestParsed)
            case .failure(let error):
                process(.parseFailed(refusal(ofMalformedRequest: error)))
            }
        }
        return offset
    }

    /// Has a request admitted by its head. The event is a failure if it is refused and a body would follow.
    private func admission(of head: RequestHead) -> HTTPConnectionStateMachine.Event {
        let context = environment.makeContext(for: head, remoteAddress: stream.remoteAddress)
        self.context = context
        do throws(HTTPError) {
            parser.maximumBodyBytes = try context.admit(head, by: environment)
        } catch {
            return .parseFailed(error)
        }
        return .headParsed(
            keepsAlive: head.keepsAlive, bodyFollows: head.framing != .none,
            expectsContinue: head.expectsContinue, takesInterim: head.version == .http11)
    }

    /// The error for a request whose head or body can't be read. The dispatcher may replace the error of a head.
    private func refusal(ofMalformedRequest error: HTTPError) -> HTTPError {
        guard self.context == nil else { return error }
        let context = environment.makeContext(remoteAddress: stream.remoteAddress)
        self.context = context
        return environment.dispatcher.refusal(ofMalformedRequest: context) ?? error
    }

    // MARK: Requests and responses

    private func dispatch() {
        guard let context, let request = context.takeRequest() else { return }
        let handler: any HTTPHandler
        do {
            handler = try context.admittedHandler()
        } catch {
            return respond(environment.errorResponder.response(to: error, context: context))
        }
        let loop = environment.loop
        let work = LoopBound((connection: self, handler: handler), loop: loop)
        if #available(macOS 26, iOS 26, *) {
            // Runs at once on this thread until it first suspends, without going through the queue of jobs.
            task = Task.immediate(executorPreference: loop) {
                await work.value.connection.serve(request, by: work.value.handler)
            }
        } else {
            task = Task(executorPreference: loop) {
                await work.value.connection.serve(request, by: work.value.handler)
            }
        }
    }

    private func serve(_ request: HTTPRequest, by handler: any HTTPHandler) async {
        guard let context else { return }
        let response: HTTPResponse
        do {
            response = try await handler.respond(to: request, context: context)
        } catch {
            response = environment.errorResponder.response(to: error, context: context)
        }
        // Before the response is sent: sending it may admit the next request of this connection.
        context.release()
        respond(response)
    }

    private func respond(_ response: HTTPResponse) {
        guard let context else { return }
        guard machine.state != .closed else {
            return context.observe(nil, responseBytes: 0, environment)
        }
        context.setResponse(response)
        process(.responseProduced(asksToClose: response.asksToClose))
    }

    private func send(_ error: HTTPError) {
        let context = self.context ?? environment.makeContext(remoteAddress: stream.remoteAddress)
        context.setResponse(environment.errorResponder.response(to: error, context: context))
        parser.discardBody()
        context.release()
        self.context = context
        sendResponse(keepsAlive: false, interruption: .init(error))
    }

    private func sendResponse(
        keepsAlive: Bool, interruption: RequestObservation.Interruption? = nil
    ) {
        guard let context, let response = context.response else { return }
        self.context = nil
        let framing = context.framing(keepsAlive: keepsAlive)
        let bytes = ResponseEncoder.encode(
            response, framing, date: environment.date.now(), commonFields: environment.commonFields)
        guard case .whole = response.transmission else {
            context.observe(response.status, responseBytes: bytes.count, environment)
            return transmit(
                bytes, bodyBytes: framing.bodyBytes(of: response), as: response.transmission)
        }
        write(bytes, canWait: keepsAlive && !input.isEmpty)
        context.observe(
            response.status, responseBytes: bytes.count, interruption: interruption, environment)
        process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
    }

    // MARK: Output

    /// Writes a response.
    ///
    /// - Parameter canWait: whether another request waits. Then the response is sent together with the next one, at
    ///   the latest at the end of the turn.
    func write(_ bytes: [UInt8], canWait: Bool) {
        guard canWait || !output.isEmpty else { return stream.write(bytes) }
        output.append(contentsOf: bytes)
        if !canWait || output.count >= Self.batchBytes {
            flush()
        } else if !isFlushScheduled {
            isFlushScheduled = true
            environment.loop.atEndOfTurn { [self] in
                isFlushScheduled = false
                flush()
            }
        }
    }

    private func flush() {
        guard !output.isEmpty else { return }
        let bytes = output
        output = []
        stream.write(bytes)
    }
}

extension RequestObservation.Interruption {
    /// Why the request of an error was never complete; nil if it was refused for another reason.
    fileprivate init?(_ error: HTTPError) {
        switch error {
        case .headTimedOut, .bodyTimedOut: self = .timeout
        case .truncated: self = .disconnected
        default: return nil
        }
    }
}

extension HTTPTimeouts {
    fileprivate subscript(kind: HTTPConnectionStateMachine.Deadline) -> Duration {
        switch kind {
        case .head: head
        case .body: body
        case .idle: idle
        case .write: write
        case .linger: linger
        case .lastRequest: lastRequest
        }
    }
}

/// Bytes that were received and not parsed yet.
private struct InputBuffer {
    private(set) var bytes: [UInt8] = []
    /// Index of the first byte that isn't parsed.
    private(set) var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { start == bytes.count }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    mutating func consume(_ count: Int) {
        start += count
        if start >= bytes.count { removeAll() }
    }

    mutating func removeAll() {
        bytes = []
        start = 0
    }
}
