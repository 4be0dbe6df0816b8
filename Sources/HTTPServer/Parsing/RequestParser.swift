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

    private enum Phase {
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

    private let limits: HTTPLimits
    private let llhttp = LLHTTPParser()
    private var phase: Phase
    private var chunkExtensionBytes = 0
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
    private func accumulate(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) {
        accumulated.append(contentsOf: bytes)
        offset += bytes.count
    }

    /// The block that ends with the first `length` of these bytes, whole.
    private func completeBlock(_ bytes: UnsafeRawBufferPointer, _ length: Int, _ offset: inout Int) -> [UInt8]
    {
        offset += length
        let piece = UnsafeRawBufferPointer(rebasing: bytes[..<length])
        guard !accumulated.isEmpty else { return Array(piece) }
        accumulated.append(contentsOf: piece)
        var block: [UInt8] = []
        swap(&block, &accumulated)
        return block
    }

    /// The same for the lines that a guard has looked at, without the blanks at their ends.
    private func completeBlock(
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
    private func finish() -> Output {
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

extension RequestParser {
    /// Reads on in a body, up to the next boundary.
    private func readBody(_ rest: UnsafeRawBufferPointer, _ offset: inout Int) throws(HTTPError) -> Output? {
        switch phase {
        case .body(let remaining):
            let count = try feed(rest, atMost: remaining, &offset, endsMessage: true)
            phase = .body(remaining: remaining - count)
            return count == remaining ? finish() : nil
        case .chunk(let remaining):
            let count = try feed(rest, atMost: remaining, &offset, endsMessage: false)
            phase = count == remaining ? .chunkEnd(remaining: 2) : .chunk(remaining: remaining - count)
        case .chunkEnd(let remaining):
            try readChunkEnd(rest[0], remaining: remaining)
            offset += 1
        case .chunkLine(let guardian):
            try readChunkLine(guardian, rest, &offset)
        case .trailers(let guardian):
            return try readTrailers(guardian, rest, &offset)
        case .betweenRequests, .head, .bodyAbsent, .failed:
            throw .disagreement
        }
        return nil
    }

    /// Hands llhttp up to `remaining` bytes of content, and answers how many that were.
    private func feed(
        _ rest: UnsafeRawBufferPointer, atMost remaining: Int, _ offset: inout Int, endsMessage: Bool
    ) throws(HTTPError) -> Int {
        let count = min(remaining, rest.count)
        let before = llhttp.record.body.count
        // Its place is reserved, and isn't copied while it grows; memory that nothing is written to costs nothing.
        if before == 0, endsMessage { llhttp.record.body.reserveCapacity(remaining) }
        let outcome = llhttp.execute(UnsafeRawBufferPointer(rebasing: rest[..<count]))
        let isEnd = endsMessage && count == remaining
        guard outcome == (isEnd ? .paused(consumed: count) : .wantsMore),
            llhttp.record.isMessageComplete == isEnd, llhttp.record.body.count == before + count
        else { throw .disagreement }
        offset += count
        return count
    }

    private func readChunkLine(
        _ guardian: ChunkLineGuard, _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) {
        var guardian = guardian
        switch guardian.scan(rest) {
        case .failed(let error):
            throw error
        case .incomplete:
            accumulate(rest, &offset)
            phase = .chunkLine(guardian)
        case .complete(let length, let size):
            // Without extensions: llhttp 8.1 refuses a second one behind one that has a value.
            var line = completeBlock(rest, length, &offset)
            line.removeLast(guardian.extensionLength + 2)
            line += [ASCII.carriageReturn, ASCII.lineFeed]
            guard line.withUnsafeBytes({ llhttp.execute($0) }) == .paused(consumed: line.count) else {
                throw .malformed("A malformed chunk.")
            }
            guard llhttp.chunkSize == UInt64(size) else { throw .disagreement }
            try open(chunk: size, extensionLength: guardian.extensionLength)
        }
    }

    private func open(chunk size: Int, extensionLength: Int) throws(HTTPError) {
        chunkExtensionBytes += extensionLength
        guard chunkExtensionBytes <= limits.chunkExtensionBytes else {
            throw .malformed("Too many chunk extensions.")
        }
        guard size <= maximumBodyBytes - llhttp.record.body.count else { throw .bodyTooLarge }
        phase = size == 0 ? .trailers(HeadGuard(trailers: limits)) : .chunk(remaining: size)
    }

    private func readChunkEnd(_ byte: UInt8, remaining: Int) throws(HTTPError) {
        let expected = remaining == 2 ? ASCII.carriageReturn : ASCII.lineFeed
        guard byte == expected else { throw .malformed("A chunk that does not end where it said.") }
        let outcome = withUnsafeBytes(of: byte) { llhttp.execute($0) }
        guard outcome == .wantsMore else { throw .disagreement }
        phase =
            remaining == 2
            ? .chunkEnd(remaining: 1) : .chunkLine(ChunkLineGuard(maximumLength: limits.chunkLineBytes))
    }

    private func readTrailers(
        _ guardian: HeadGuard, _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) -> Output? {
        var guardian = guardian
        switch guardian.scan(rest) {
        case .failed(let error):
            throw error
        case .incomplete:
            accumulate(rest, &offset)
            phase = .trailers(guardian)
            return nil
        case .complete(let length):
            let block = completeBlock(rest, length, of: guardian, &offset)
            guard block.withUnsafeBytes({ llhttp.execute($0) }) == .paused(consumed: block.count),
                llhttp.record.isMessageComplete
            else { throw .malformed("A malformed trailer.") }
            return finish()
        }
    }
}
