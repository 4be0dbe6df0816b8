/// Takes a connection's bytes apart into requests, one after the other.
///
/// Framing is decided twice: here, by guards that know the limits and refuse what is ambiguous, and by
/// llhttp, which has to agree at every boundary; where the two differ the request is refused, so that no
/// version of llhttp can be talked into another reading. Pure but for llhttp's memory: it does no input or
/// output.
final class RequestParser {
    enum Output {
        /// Everything was used up; `isInRequest` says whether a request has begun.
        case needsMore(isInRequest: Bool)
        indirect case head(RequestHead)
        /// The request of the last head is complete.
        case body([UInt8])
        /// Nothing can be read from this connection any more.
        indirect case failure(HTTPError)
    }

    enum Phase {
        case betweenRequests(EmptyLineGuard)
        case head(HeadGuard)
        case bodyAbsent
        case body(remaining: Int)
        case chunkLine(ChunkLineGuard)
        case chunk(remaining: Int)
        case chunkEnd(remaining: Int)
        case trailers(HeadGuard)
        indirect case failed(HTTPError)
    }

    let limits: HTTPLimits
    let llhttp = LLHTTPParser()
    var phase: Phase
    var chunkExtensionBytes = 0
    /// The most bytes of the body of the request whose head was told last.
    var maximumBodyBytes: Int

    /// The part of a block that arrived before the rest; empty where a block came in one piece.
    private var accumulated: [UInt8] = []

    init(limits: HTTPLimits) {
        self.limits = limits
        self.maximumBodyBytes = limits.bodyBytes
        self.phase = .betweenRequests(EmptyLineGuard(limit: limits.leadingEmptyLines))
    }

    /// Reads until something is to be told; `offset` moves over what was used up.
    func next(_ bytes: UnsafeRawBufferPointer, from offset: inout Int) -> Output {
        do throws(HTTPError) {
            while true {
                if let output = try step(bytes, &offset) { return output }
            }
        } catch {
            phase = .failed(error)
            return .failure(error)
        }
    }

    private func step(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) -> Output? {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        switch phase {
        case .failed(let error):
            throw error
        case .bodyAbsent:
            guard llhttp.record.isMessageComplete else { throw .disagreement }
            return finish()
        case _ where rest.isEmpty:
            if case .betweenRequests = phase { return .needsMore(isInRequest: false) }
            return .needsMore(isInRequest: true)
        case .betweenRequests(var guardian):
            offset += try guardian.skip(rest)
            phase = offset < bytes.count ? .head(HeadGuard(requestHead: limits)) : .betweenRequests(guardian)
            return nil
        case .head(let guardian):
            return try readHead(guardian, rest, &offset)
        case .body, .chunk, .chunkEnd, .chunkLine, .trailers:
            return try readBody(rest, &offset)
        }
    }

    private func readHead(
        _ guardian: HeadGuard, _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) -> Output? {
        var guardian = guardian
        switch guardian.scan(rest) {
        case .failed(let error):
            throw error
        case .incomplete:
            accumulate(rest, &offset)
            phase = .head(guardian)
            return nil
        case .complete(let length):
            let head = completeBlock(rest, length, of: guardian, &offset)
            return .head(try parseHead(head, guardian))
        }
    }

    /// Keeps the start of a head, a chunk's first line or trailers, until the guard has seen the end.
    func accumulate(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) {
        accumulated.append(contentsOf: bytes)
        offset += bytes.count
    }

    /// The block that ends with the first `length` of these bytes, whole.
    func completeBlock(_ bytes: UnsafeRawBufferPointer, _ length: Int, _ offset: inout Int) -> [UInt8] {
        offset += length
        let piece = UnsafeRawBufferPointer(rebasing: bytes[..<length])
        guard !accumulated.isEmpty else { return Array(piece) }
        accumulated.append(contentsOf: piece)
        var block: [UInt8] = []
        swap(&block, &accumulated)
        return block
    }

    /// The same for the lines that a guard has looked at, without the blanks at their ends.
    func completeBlock(
        _ bytes: UnsafeRawBufferPointer, _ length: Int, of guardian: HeadGuard, _ offset: inout Int
    ) -> [UInt8] {
        let block = completeBlock(bytes, length, &offset)
        return guardian.hasTrailingBlanks ? HeadGuard.removingTrailingBlanks(from: block) : block
    }

    private func parseHead(_ bytes: [UInt8], _ guardian: HeadGuard) throws(HTTPError) -> RequestHead {
        llhttp.restart()
        var bytes = bytes
        let line = try RequestLine(head: &bytes, checkedBy: guardian.requestLine)
        let outcome = bytes.withUnsafeBytes { llhttp.executeHead($0) }
        guard llhttp.record.isHeadComplete else {
            // llhttp knows the registered methods only.
            throw llhttp.hasUnknownMethod ? .unknownMethod : .malformed("A malformed head.")
        }
        // Ours first: they know why, where llhttp only knows that.
        let head = try RequestHead(line: line, bytes: bytes, fields: llhttp.record.fields, limits: limits)
        guard llhttp.record.target == line.target.whole, llhttp.record.fields.count == guardian.fieldCount,
            outcome == (head.framing == .none ? .paused(consumed: bytes.count) : .wantsMore)
        else { throw .disagreement }
        switch head.framing {
        case .none: phase = .bodyAbsent
        case .length(let length): phase = .body(remaining: length)
        case .chunked:
            chunkExtensionBytes = 0
            phase = .chunkLine(ChunkLineGuard(maximumLength: limits.chunkLineBytes))
        }
        return head
    }

    /// Lets go of the part of a body that is there: nobody will read it.
    func discardBody() {
        llhttp.record.body = []
    }

    /// Ends a request; the next one may follow.
    func finish() -> Output {
        var body: [UInt8] = []
        swap(&body, &llhttp.record.body)
        phase = .betweenRequests(EmptyLineGuard(limit: limits.leadingEmptyLines))
        return .body(body)
    }
}

extension HTTPError {
    /// The guards and llhttp read the same bytes differently; nobody should rely on either.
    static let disagreement = malformed("An ambiguous request.")

    static let unknownMethod = HTTPError(
        .notImplemented, .methodNotImplemented, "This server does not know the request's method.")
}
