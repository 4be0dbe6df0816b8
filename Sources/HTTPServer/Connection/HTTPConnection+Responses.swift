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

    /// A response that has to be waited for.
    private struct AwaitedResponse {
        let connection: HTTPConnection
        let wait: () async throws -> HTTPResponse
    }

    /// Waits for a response in a task.
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
        guard case .whole = response.transmission else {
            let bytes = environment.withEncoded(response, framing) { Array($0) }
            report(context, response.status, bytes.count)
            return transmit(
                bytes, bodyBytes: framing.bodyBytes(of: response), as: response.transmission)
        }
        let canWait = keepsAlive && (state.value.moreFollows || !state.value.input.isEmpty)
        let count = environment.withEncoded(response, framing) { bytes in
            write(bytes, canWait: canWait)
            return bytes.count
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

    /// Reports a response.
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

    // MARK: Output

    /// While more requests wait, responses are sent together, up to this number of bytes.
    private static let batchBytes = 16 * 1024

    /// Writes a response.
    ///
    /// - Parameter canWait: whether another request waits. Then the response is sent together with the next one, at
    ///   the latest at the end of the turn.
    func write(_ bytes: UnsafeRawBufferPointer, canWait: Bool) {
        guard canWait || !state.value.output.isEmpty else { return stream.write(bytes) }
        state.value.output.append(contentsOf: bytes)
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

/// How a response is sent.
///
/// All but `whole` are faults below HTTP, which the mock server causes to imitate a bad network in an app's tests.
///
/// What the rare cases hold is kept elsewhere, so that every response is smaller.
public indirect enum ResponseTransmission: Hashable, Sendable {
    /// As it should be.
    case whole
    /// The connection is closed, in order, after this number of bytes of the body. `Content-Length` is that of all.
    case cutOff(afterBodyBytes: Int)
    /// The connection is reset instead.
    case reset
    /// The body is sent in pieces of this number of bytes: the first one with the head, then one every interval.
    case dripped(bytes: Int, every: Duration)
}

extension HTTPConnection {
    /// Sends a response as `transmission` says.
    ///
    /// - Parameters:
    ///   - bytes: the encoded response.
    ///   - bodyBytes: length of the body at the end of `bytes`.
    func transmit(_ bytes: [UInt8], bodyBytes: Int, as transmission: ResponseTransmission) {
        let headBytes = bytes.count - bodyBytes
        switch transmission {
        case .whole:
            write(bytes)
            process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
        case .cutOff(let count):
            write(Array(bytes.prefix(headBytes + max(0, min(count, bodyBytes)))))
            process(.responseCutOff)
            process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
        case .reset:
            process(.responseWithheld)
        case .dripped(let size, let interval):
            var pieces = BodyPieces(bytes[headBytes...], size: size)
            write(Array(bytes.prefix(headBytes) + pieces.next()))
            send(pieces, every: interval)
        }
    }

    private func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0, canWait: false) }
    }

    private func send(_ pieces: BodyPieces, every interval: Duration) {
        guard !pieces.isEmpty else {
            return process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
        }
        drip = DrippedOutput(
            loop: environment.loop, pieces: pieces, interval: interval,
            send: { [self] in stream.write($0) },
            onFinished: { [self] in
                drip = nil
                process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
            })
    }
}

/// Sends the rest of a response piece by piece. Confined to its loop.
///
/// Its timer keeps it alive until the last piece, or until it is cancelled.
final class DrippedOutput {
    private var pieces: BodyPieces
    private var timer: LoopTimer?
    private let send: ([UInt8]) -> Void
    private let onFinished: () -> Void

    /// Sends the first of `pieces`, which must not be empty, after one interval.
    init(
        loop: EventLoop, pieces: BodyPieces, interval: Duration, send: @escaping ([UInt8]) -> Void,
        onFinished: @escaping () -> Void
    ) {
        self.pieces = pieces
        self.send = send
        self.onFinished = onFinished
        timer = LoopTimer(loop: loop) { [self] in sendNext() }
        timer?.start(after: interval, repeating: interval)
    }

    /// Sends nothing more, and doesn't call `onFinished`.
    func cancel() {
        timer?.close()
        timer = nil
    }

    private func sendNext() {
        send(Array(pieces.next()))
        guard pieces.isEmpty else { return }
        cancel()
        onFinished()
    }
}

/// A body in pieces of one size, the last of which may be shorter.
struct BodyPieces {
    private var rest: ArraySlice<UInt8>
    private let size: Int

    /// - Parameter size: in bytes; less than 1 counts as 1.
    init(_ body: ArraySlice<UInt8>, size: Int) {
        rest = body
        self.size = max(1, size)
    }

    /// Whether there is no piece left.
    var isEmpty: Bool { rest.isEmpty }

    /// Takes the next piece; empty if none is left.
    mutating func next() -> ArraySlice<UInt8> {
        let piece = rest.prefix(size)
        rest = rest.dropFirst(size)
        return piece
    }
}
