/// Splits a connection's bytes into requests.
///
/// Framing is decided twice: here, by guards that know the limits and refuse what is ambiguous, and by llhttp, which
/// has to agree at every boundary. If the two differ the request is refused, so that the reading never depends on
/// llhttp's version. Does no input or output.
final class RequestParser {
    enum Output {
        /// All bytes were used. `isInRequest`: whether the parser is inside a request.
        case needsMore(isInRequest: Bool)
        indirect case head(RequestHead)
        /// The request of the last head is complete.
        case body([UInt8])
        /// No further request can be read from this connection.
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
    /// Maximum length in bytes of the body of the request whose head was returned last.
    var maximumBodyBytes: Int

    /// The first part of an incomplete block; stays empty if blocks arrive in one piece.
    private var accumulated: [UInt8] = []

    init(limits: HTTPLimits) {
        self.limits = limits
        self.maximumBodyBytes = limits.bodyBytes
        self.phase = .betweenRequests(EmptyLineGuard(limit: limits.leadingEmptyLines))
    }

    /// Reads until there is an output. Moves `offset` behind the bytes that were used.
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
        case .betweenRequests(var scanner):
            offset += try scanner.skip(rest)
            phase = offset < bytes.count ? .head(HeadGuard(requestHead: limits)) : .betweenRequests(scanner)
            return nil
        case .head(let scanner):
            return try readHead(scanner, rest, &offset)
        case .body, .chunk, .chunkEnd, .chunkLine, .trailers:
            return try readBody(rest, &offset)
        }
    }

    private func readHead(
        _ scanner: HeadGuard, _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) -> Output? {
        var scanner = scanner
        switch scanner.scan(rest) {
        case .failed(let error):
            throw error
        case .incomplete:
            accumulate(rest, &offset)
            phase = .head(scanner)
            return nil
        case .complete(let length):
            let head = completeBlock(rest, length, of: scanner, &offset)
            return .head(try parseHead(head, scanner))
        }
    }

    /// Keeps the start of a head, a chunk's first line or trailers until the guard has seen their end.
    private func accumulate(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) {
        accumulated.append(contentsOf: bytes)
        offset += bytes.count
    }

    /// Completes the block that ends with the first `length` of these bytes.
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

    /// Completes a block that `scanner` has checked, and removes the blanks at the ends of its lines.
    private func completeBlock(
        _ bytes: UnsafeRawBufferPointer, _ length: Int, of scanner: HeadGuard, _ offset: inout Int
    ) -> [UInt8] {
        let block = completeBlock(bytes, length, &offset)
        return scanner.hasTrailingBlanks ? HeadGuard.removingTrailingBlanks(from: block) : block
    }

    private func parseHead(_ bytes: [UInt8], _ scanner: HeadGuard) throws(HTTPError) -> RequestHead {
        llhttp.restart()
        var bytes = bytes
        let line = try RequestLine(head: &bytes, checkedBy: scanner.requestLine)
        let outcome = bytes.withUnsafeBytes { llhttp.executeHead($0) }
        guard llhttp.record.isHeadComplete else {
            // llhttp knows registered methods only.
            throw llhttp.hasUnknownMethod ? .unknownMethod : .malformed("A malformed head.")
        }
        // Our checks come first: they name the reason, llhttp doesn't.
        let head = try RequestHead(line: line, bytes: bytes, fields: llhttp.record.fields, limits: limits)
        guard llhttp.record.target == line.target.whole, llhttp.record.fields.count == scanner.fieldCount,
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

    /// Frees the part of a body that was read, which nobody needs.
    func discardBody() {
        llhttp.record.body = []
    }

    /// Ends a request. The next one may follow.
    private func finish() -> Output {
        var body: [UInt8] = []
        swap(&body, &llhttp.record.body)
        phase = .betweenRequests(EmptyLineGuard(limit: limits.leadingEmptyLines))
        return .body(body)
    }
}

extension HTTPError {
    /// The guards and llhttp read the same bytes differently.
    static let disagreement = malformed("An ambiguous request.")

    static let unknownMethod = HTTPError(
        .notImplemented, .methodNotImplemented, "This server does not know the request's method.")
}

extension RequestParser {
    /// Reads a part of a body, up to the next boundary.
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
        case .chunkLine(let scanner):
            try readChunkLine(scanner, rest, &offset)
        case .trailers(let scanner):
            return try readTrailers(scanner, rest, &offset)
        case .betweenRequests, .head, .bodyAbsent, .failed:
            throw .disagreement
        }
        return nil
    }

    /// Passes up to `remaining` bytes of content to llhttp, and returns their number.
    private func feed(
        _ rest: UnsafeRawBufferPointer, atMost remaining: Int, _ offset: inout Int, endsMessage: Bool
    ) throws(HTTPError) -> Int {
        let count = min(remaining, rest.count)
        let before = llhttp.record.body.count
        // Avoids copies while the body grows. The memory was admitted, and pages that aren't written to cost nothing.
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
        _ scanner: ChunkLineGuard, _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) {
        var scanner = scanner
        switch scanner.scan(rest) {
        case .failed(let error):
            throw error
        case .incomplete:
            accumulate(rest, &offset)
            phase = .chunkLine(scanner)
        case .complete(let length, let size):
            // Without the extensions: llhttp 8.1 refuses a second one behind one that has a value.
            var line = completeBlock(rest, length, &offset)
            line.removeLast(scanner.extensionLength + 2)
            line += [ASCII.carriageReturn, ASCII.lineFeed]
            guard line.withUnsafeBytes({ llhttp.execute($0) }) == .paused(consumed: line.count) else {
                throw .malformed("A malformed chunk.")
            }
            guard llhttp.chunkSize == UInt64(size) else { throw .disagreement }
            try open(chunk: size, extensionLength: scanner.extensionLength)
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
        _ scanner: HeadGuard, _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) -> Output? {
        var scanner = scanner
        switch scanner.scan(rest) {
        case .failed(let error):
            throw error
        case .incomplete:
            accumulate(rest, &offset)
            phase = .trailers(scanner)
            return nil
        case .complete(let length):
            let block = completeBlock(rest, length, of: scanner, &offset)
            guard block.withUnsafeBytes({ llhttp.execute($0) }) == .paused(consumed: block.count),
                llhttp.record.isMessageComplete
            else { throw .malformed("A malformed trailer.") }
            return finish()
        }
    }
}
