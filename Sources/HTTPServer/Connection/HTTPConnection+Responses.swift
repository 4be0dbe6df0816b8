import EventLoop

/// From a complete request to its response, and to the bytes of it.
extension HTTPConnection {
    func dispatch() {
        guard let context = state.value.context else { return }
        let wait: () async throws -> HTTPResponse
        do {
            let (admission, head) = try context.takeRequest()
            switch try admission.respond(to: head.request, context: context) {
            case .now(let response):
                context.release()
                return respond(response, context)
            case .later(let getResponse): wait = getResponse
            }
        } catch {
            context.release()
            return respond(environment.errorResponder.response(to: error, context: context), context)
        }
        start(wait)
    }

    private struct AwaitedResponse {
        let connection: HTTPConnection
        let wait: () async throws -> HTTPResponse
    }

    private func start(_ wait: @escaping () async throws -> HTTPResponse) {
        let loop = environment.loop
        let work = LoopBound(AwaitedResponse(connection: self, wait: wait), loop: loop)
        let waits = state.value.context?.makeWaits().map { LoopBound($0, loop: loop) }
        TaskWaits.$current.withValue(waits) { startTask(work) }
    }

    private func startTask(_ work: LoopBound<AwaitedResponse>) {
        let loop = environment.loop
        if #available(macOS 26, iOS 26, *) {
            // Runs at once on this thread until it first suspends, without going through the queue of jobs.
            state.value.task = Task.immediate(executorPreference: loop) {
                await work.value.connection.respond(after: work.value.wait)
            }
        } else {
            state.value.task = Task(executorPreference: loop) {
                await work.value.connection.respond(after: work.value.wait)
            }
        }
    }

    // Each call that may suspend costs some 400 instructions.
    @inline(__always)
    private func respond(after wait: () async throws -> HTTPResponse) async {
        guard let context = state.value.context else { return }
        let response: HTTPResponse
        do {
            response = try await wait()
        } catch {
            response = environment.errorResponder.response(to: error, context: context)
        }
        // Before the response is sent: sending it may admit the next request of this connection.
        context.release()
        respond(consume response, context)
    }

    private func respond(_ response: consuming HTTPResponse, _ context: RequestContext) {
        guard state.value.context === context else { return }
        guard state.value.actions.machine.state != .closed else {
            context.observe(nil, responseBytes: 0, environment)
            return
        }
        if let fields = context.addedFields { response.add(fields) }
        let asksToClose = response.asksToClose
        state.value.response.fill(with: response)
        process(.responseProduced(asksToClose: asksToClose))
    }

    func send(_ error: HTTPError) {
        let context =
            state.value.context
            ?? environment.makeContext(id: parser.clientRequestID, remoteAddress: stream.remoteAddress)
        var response = environment.errorResponder.response(to: error, context: context)
        if let fields = context.addedFields { response.add(fields) }
        parser.discardBody()
        context.release()
        state.value.context = context
        state.value.response = response
        sendResponse(keepsAlive: false, interruption: .init(error))
    }

    func sendResponse(
        keepsAlive: Bool, interruption: RequestObservation.Interruption? = nil
    ) {
        guard let context = state.value.context.take(), var response = state.value.response.take() else {
            return
        }
        let framing = context.framing(keepsAlive: keepsAlive)
        if case .written(let body) = response.content {
            let bytes = environment.encoded(response, framing)
            report(context, response.status, bytes.count)
            return send(bytes, bodyBytes: framing.bodyBytes(of: response), by: body.write)
        }
        let canWait = keepsAlive && (state.value.moreFollows || !state.value.input.isEmpty)
        let count = environment.withEncoded(response, framing) { bytes in
            write(bytes, canWait: canWait)
            return bytes.byteCount
        }
        if let body = response.takeBodyMemory() { environment.responseMemory.recycle(body) }
        report(context, response.status, count, interruption)
        if keepsAlive { keep(consume context) }
        if state.value.heldBytes > 0 || stream.queuedWriteBytes > 0, !holdMemory() {
            // Its client takes no responses.
            return process(.responseWithheld)
        }
        process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
    }

    private func report(
        _ context: RequestContext, _ status: HTTPStatus, _ bytes: Int,
        _ interruption: RequestObservation.Interruption? = nil
    ) {
        let end = context.observe(status, responseBytes: bytes, interruption: interruption, environment)
        if let end { state.value.parsingSince = end }
    }

    /// Keeps a context for the next request, if nobody else has it.
    private func keep(_ context: consuming RequestContext) {
        guard isKnownUniquelyReferenced(&context) else { return }
        context.reset()
        state.value.spareContext = consume context
    }

    /// While more requests wait, responses are sent together, up to this number of bytes.
    private static let batchBytes = 16 * 1024

    /// - Parameter canWait: whether another request waits. Then the response is sent together with the next one, at
    ///   the latest at the end of the turn.
    func write(_ bytes: RawSpan, canWait: Bool) {
        guard canWait || !state.value.output.isEmpty else { return stream.write(bytes) }
        state.value.output.append(bytes)
        if !canWait || state.value.output.count >= Self.batchBytes {
            flush()
        } else if !state.value.isFlushScheduled {
            state.value.isFlushScheduled = true
            environment.loop.atEndOfTurn { [self] in
                state.value.isFlushScheduled = false
                flush()
            }
        }
    }

    func flush() {
        guard !state.value.output.isEmpty else { return }
        let bytes = state.value.output
        state.value.output = []
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

extension HTTPConnection {
    /// Has a handler write its response, in a task; the connection is closed after it.
    private func send(_ bytes: [UInt8], bodyBytes: Int, by write: @escaping WrittenBody.Write) {
        flush()
        state.value.isWriterBusy = true
        let work = LoopBound(self, loop: environment.loop)
        state.value.task = Task(executorPreference: environment.loop) {
            let connection = work.value
            do {
                try await write(Array(bytes.dropLast(bodyBytes)), Array(bytes.suffix(bodyBytes))) {
                    connection.stream.write($0)
                }
                connection.state.value.isWriterBusy = false
                connection.process(.responseWritten(isDrained: connection.stream.queuedWriteBytes == 0))
            } catch {
                connection.process(.responseWithheld)
            }
        }
    }
}
