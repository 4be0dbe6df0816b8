extension RequestParser {
    /// Reads on in a body, up to the next boundary.
    func readBody(_ rest: UnsafeRawBufferPointer, _ offset: inout Int) throws(HTTPError) -> Output? {
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
