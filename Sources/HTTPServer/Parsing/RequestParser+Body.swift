extension RequestParser {
    /// Reads a part of a body, up to the next boundary.
    func readBody(_ rest: UnsafeRawBufferPointer, _ offset: inout Int) throws(HTTPError) -> Output? {
        switch state.value.phase {
        case .body:
            state.value.remaining -= try feed(rest, &offset, endsMessage: true)
            return state.value.remaining == 0 ? finish() : nil
        case .chunk:
            state.value.remaining -= try feed(rest, &offset, endsMessage: false)
            if state.value.remaining == 0 { expect(.chunkEnd, remaining: 2) }
        case .chunkEnd:
            try readChunkEnd(rest[0])
            offset += 1
        case .chunkLine:
            try readChunkLine(rest, &offset)
        case .trailers:
            return try readTrailers(rest, &offset)
        case .betweenRequests, .head, .bodyAbsent, .failed:
            throw .disagreement
        }
        return nil
    }

    private static let initialBodyBytes = 16 * 1024

    /// Passes up to `remaining` bytes of content to llhttp, and returns their number.
    private func feed(
        _ rest: UnsafeRawBufferPointer, _ offset: inout Int, endsMessage: Bool
    ) throws(HTTPError) -> Int {
        let remaining = state.value.remaining
        let count = min(remaining, rest.count)
        let before = llhttp.record.body.count
        // For fewer copies while the body grows. Not for all of it, which may never arrive.
        if before == 0, endsMessage {
            llhttp.record.body.reserveCapacity(min(remaining, Self.initialBodyBytes))
        }
        let outcome = llhttp.execute(UnsafeRawBufferPointer(rebasing: rest[..<count]))
        let isEnd = endsMessage && count == remaining
        guard outcome == (isEnd ? .paused(consumed: count) : .wantsMore),
            llhttp.record.isMessageComplete == isEnd, llhttp.record.body.count == before + count
        else { throw .disagreement }
        offset += count
        return count
    }

    private func readChunkLine(
        _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) {
        switch state.value.chunkLine.scan(rest) {
        case .failed(let error):
            throw error
        case .incomplete:
            accumulate(rest, &offset)
        case .complete(let length, let size):
            completeBlock(rest, length, &offset)
            // llhttp gets the line without extensions: 8.1 refuses a second one behind one with a value.
            let extensionLength = state.value.chunkLine.extensionLength
            let count = state.value.blockLength - extensionLength
            state.value.block[count - 2] = ASCII.carriageReturn
            state.value.block[count - 1] = ASCII.lineFeed
            state.value.blockLength = count
            guard withBlock({ llhttp.execute($0) }) == .paused(consumed: count)
            else { throw .malformed("A malformed chunk.") }
            guard llhttp.chunkSize == UInt64(size) else { throw .disagreement }
            try open(chunk: size, extensionLength: extensionLength)
        }
    }

    private func open(chunk size: Int, extensionLength: Int) throws(HTTPError) {
        state.value.chunkExtensionBytes += extensionLength
        guard state.value.chunkExtensionBytes <= limits.chunkExtensionBytes else {
            throw .malformed("Too many chunk extensions.")
        }
        guard size <= maximumBodyBytes - llhttp.record.body.count else { throw .bodyTooLarge }
        if size == 0 {
            state.value.phase = .trailers
            state.value.head = HeadGuard(trailers: limits)
        } else {
            expect(.chunk, remaining: size)
        }
    }

    private func readChunkEnd(_ byte: UInt8) throws(HTTPError) {
        let isFirst = state.value.remaining == 2
        let expected = isFirst ? ASCII.carriageReturn : ASCII.lineFeed
        guard byte == expected else { throw .malformed("A chunk that does not end where it said.") }
        let outcome = withUnsafeBytes(of: byte) { llhttp.execute($0) }
        guard outcome == .wantsMore else { throw .disagreement }
        if isFirst { state.value.remaining = 1 } else { expectChunkLine() }
    }

    private func readTrailers(
        _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) -> Output? {
        switch state.value.head.scan(rest) {
        case .failed(let error):
            throw error
        case .incomplete:
            accumulate(rest, &offset)
            return nil
        case .complete(let length):
            completeHeadBlock(rest, length, &offset)
            let count = state.value.blockLength
            guard withBlock({ llhttp.execute($0) }) == .paused(consumed: count),
                llhttp.record.isMessageComplete
            else { throw .malformed("A malformed trailer.") }
            return finish()
        }
    }
}
