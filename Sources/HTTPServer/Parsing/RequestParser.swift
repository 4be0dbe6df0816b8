import Locking

/// Splits a connection's bytes into requests.
///
/// Framing is decided twice where there is something to decide: here, by guards that know the limits and refuse what is
/// ambiguous, and by llhttp, which has to agree at every boundary. If the two differ the request is refused, so that the
/// reading never depends on llhttp's version. A plain head (`readPlainHead`) leaves nothing to decide. Does no input or
/// output.
final class RequestParser {
    enum Output {
        /// All bytes were used. `isInRequest`: whether the parser is inside a request.
        case needsMore(isInRequest: Bool)
        case head
        case body([UInt8])
        /// No further request can be read from this connection.
        indirect case failure(HTTPError)
    }

    /// What the parser expects next. Data for it are in `State`, not in the cases, so that they are changed in place.
    enum Phase {
        case betweenRequests, head, bodyAbsent, body, chunkLine, chunk, chunkEnd, trailers, failed
    }

    struct State {
        var phase = Phase.betweenRequests
        var emptyLines: EmptyLineGuard
        var head: HeadGuard
        var chunkLine: ChunkLineGuard
        /// Bytes of the body, of the chunk, or behind the chunk.
        var remaining = 0
        var chunkExtensionBytes = 0
        var failure = HTTPError.disagreement
        /// The client's id for the request whose head is the failure.
        var refusedRequestID: RequestID?
        /// The first part of an incomplete block; stays empty if blocks arrive in one piece.
        var accumulated: [UInt8] = []
        /// What was read of the last head, which is in `block` and `fields`, until it is taken.
        var readHead: (line: RequestLine, facts: RequestHead.Facts)?
        /// Begins with the last complete block, whose length is `blockLength`. It isn't shortened for a shorter block, and is
        /// used again if nobody else has it by then.
        var block: [UInt8] = []
        var blockLength = 0
        /// The fields of the last head, used again likewise.
        var fields: [HTTPHeaders.Field] = []

        init(_ limits: HTTPLimits) {
            emptyLines = EmptyLineGuard(limit: limits.leadingEmptyLines)
            head = HeadGuard(requestHead: limits)
            chunkLine = ChunkLineGuard(maximumLength: limits.chunkLineBytes)
        }
    }

    private static let minimumBlockBytes = 1024
    private static let keptBlockBytes = 2048
    /// Memory for more fields isn't kept for the next request. A plain head has no more.
    static let keptFields = 64

    let limits: HTTPLimits
    let llhttp = LLHTTPParser()
    let state: Confined<State>
    /// Maximum length in bytes of the body of the request whose head was returned last.
    var maximumBodyBytes: Int

    init(limits: HTTPLimits) {
        self.limits = limits
        self.maximumBodyBytes = limits.bodyBytes
        state = Confined(State(limits))
    }

    /// Reads until there is an output. Moves `offset` behind the bytes that were used.
    func next(_ bytes: RawSpan, from offset: inout Int) -> Output {
        bytes.withUnsafeBytes { next($0, from: &offset) }
    }

    func next(_ bytes: UnsafeRawBufferPointer, from offset: inout Int) -> Output {
        do throws(HTTPError) {
            while true {
                if let output = try step(bytes, &offset) { return output }
            }
        } catch {
            if state.value.phase == .head { state.value.refusedRequestID = readRequestID() }
            state.value.accumulated = []
            state.value.failure = error
            state.value.phase = .failed
            return .failure(error)
        }
    }

    private func step(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) -> Output? {
        let phase = state.value.phase
        switch phase {
        case .failed:
            throw state.value.failure
        case .bodyAbsent:
            return finish()
        case _ where offset == bytes.count:
            return .needsMore(isInRequest: phase != .betweenRequests)
        case .betweenRequests:
            offset += try state.value.emptyLines.skip(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            guard offset < bytes.count else { return nil }
            if readPlainHead(UnsafeRawBufferPointer(rebasing: bytes[offset...]), &offset) { return .head }
            state.value.head = HeadGuard(requestHead: limits)
            state.value.phase = .head
            return nil
        case .head:
            return try readHead(UnsafeRawBufferPointer(rebasing: bytes[offset...]), &offset)
        case .body, .chunk, .chunkEnd, .chunkLine, .trailers:
            return try readBody(UnsafeRawBufferPointer(rebasing: bytes[offset...]), &offset)
        }
    }

    private func readHead(
        _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) -> Output? {
        switch state.value.head.scan(rest) {
        case .failed(let error):
            state.value.accumulated.append(contentsOf: rest)
            throw error
        case .incomplete:
            accumulate(rest, &offset)
            return nil
        case .complete(let length):
            completeHeadBlock(rest, length, &offset)
            try parseHead()
            return .head
        }
    }

    /// Call it once after each `Output.head`.
    func takeHead() -> RequestHead? {
        guard let (line, facts) = state.value.readHead.take() else { return nil }
        return RequestHead(line: line, facts: facts, bytes: state.value.block, fields: state.value.fields)
    }

    /// Keeps the start of a head, a chunk's first line or trailers until the guard has seen their end.
    func accumulate(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) {
        state.value.accumulated.append(contentsOf: bytes)
        offset += bytes.count
    }

    /// Completes the block that ends with the first `length` of these bytes.
    func completeBlock(_ bytes: UnsafeRawBufferPointer, _ length: Int, _ offset: inout Int) {
        offset += length
        let accumulated = state.value.accumulated.count
        let blockLength = accumulated + length
        if state.value.block.count < blockLength {
            state.value.block = [UInt8](repeating: 0, count: max(blockLength, Self.minimumBlockBytes))
        }
        state.value.block.withUnsafeMutableBytes { block in
            if accumulated > 0 { block.copyBytes(from: state.value.accumulated) }
            UnsafeMutableRawBufferPointer(rebasing: block[accumulated...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
        }
        state.value.blockLength = blockLength
        if accumulated > 0 { state.value.accumulated = [] }
    }

    func withBlock<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let length = state.value.blockLength
        return state.value.block.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<length])) }
    }

    /// Completes a block that the guard of heads has checked, and removes the blanks at the ends of its lines.
    func completeHeadBlock(_ bytes: UnsafeRawBufferPointer, _ length: Int, _ offset: inout Int) {
        completeBlock(bytes, length, &offset)
        if state.value.head.hasTrailingBlanks {
            state.value.block = withBlock(HeadGuard.removingTrailingBlanks)
            state.value.blockLength = state.value.block.count
        }
    }

    private func parseHead() throws(HTTPError) {
        llhttp.restart()
        let line = try RequestLine(
            head: &state.value.block, checkedBy: state.value.head.requestLine)
        let outcome = withBlock { llhttp.executeHead($0) }
        // llhttp knows registered methods only.
        if llhttp.hasUnknownMethod { throw .unknownMethod }
        // Our checks come first: they name the reason, llhttp doesn't.
        let fieldCount = state.value.head.fieldCount
        makeRoom(forFields: fieldCount)
        let length = state.value.blockLength
        let facts = try RequestHead.Facts(
            line, state.value.block, length: length, &state.value.fields, limits: limits)
        guard llhttp.record.isHeadComplete else { throw .malformed("A malformed head.") }
        guard llhttp.record.target == line.target.whole, llhttp.record.fieldCount == fieldCount,
            llhttp.record.isMessageComplete == (facts.framing == .none),
            outcome == (facts.framing == .none ? .paused(consumed: length) : .wantsMore)
        else { throw .disagreement }
        switch facts.framing {
        case .none: state.value.phase = .bodyAbsent
        case .length(let length): expect(.body, remaining: length)
        case .chunked:
            state.value.chunkExtensionBytes = 0
            expectChunkLine()
        }
        state.value.readHead = (line, facts)
    }

    /// As long as it is already for most requests of a connection.
    private func makeRoom(forFields count: Int) {
        if state.value.fields.capacity > Self.keptFields, count <= Self.keptFields {
            state.value.fields = []
        }
        while state.value.fields.count > count { state.value.fields.removeLast() }
        while state.value.fields.count < count {
            state.value.fields.append(
                HTTPHeaders.Field(nameStart: 0, nameEnd: 0, valueStart: 0, valueEnd: 0, known: nil))
        }
    }

    func expect(_ phase: Phase, remaining: Int) {
        state.value.phase = phase
        state.value.remaining = remaining
    }

    func expectChunkLine() {
        state.value.phase = .chunkLine
        state.value.chunkLine = ChunkLineGuard(maximumLength: limits.chunkLineBytes)
    }

    var bodyByteCount: Int { llhttp.record.body.count }

    /// Number of bytes that are kept of a head, a chunk's first line or trailers until they are complete.
    var unfinishedBytes: Int { state.value.accumulated.count }

    /// Frees the part of a body that was read, which nobody needs.
    func discardBody() {
        llhttp.record.body = []
    }

    func finish() -> Output {
        var body: [UInt8] = []
        if !llhttp.record.body.isEmpty { swap(&body, &llhttp.record.body) }
        // A connection that waits for its next request doesn't keep the memory of a large head.
        if state.value.block.count > Self.keptBlockBytes { state.value.block = [] }
        state.value.phase = .betweenRequests
        state.value.emptyLines = EmptyLineGuard(limit: limits.leadingEmptyLines)
        return .body(body)
    }
}

extension HTTPError {
    /// The guards and llhttp read the same bytes differently.
    static let disagreement = malformed("An ambiguous request.")

    static let unknownMethod = HTTPError(
        .notImplemented, .methodNotImplemented, "This server does not know the request's method.")
}
