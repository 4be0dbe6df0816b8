#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What a head without a body means, apart from its target.
///
/// Most clients send the same method and fields with each request of a connection. Equal bytes mean the same to the
/// guards and to llhttp, which have accepted them before. So if a head differs from the last one only in its target,
/// only its request line is read.
struct RepeatableHead {
    /// Where the target is in the head's block.
    var target: Range<Int>
    let version: HTTPVersion
    let keepsAlive: Bool
    let knownFields: UInt32

    /// Nil for a head that is followed by a body, or isn't in its block as it was sent.
    init?(_ head: RequestHead, _ line: RequestLine, guardedBy headGuard: HeadGuard) {
        guard head.framing == .none, !headGuard.hasTrailingBlanks else { return nil }
        target = line.target.whole
        version = head.version
        keepsAlive = head.keepsAlive
        knownFields = head.request.headers.knownFields
    }
}

extension RequestParser {
    /// Reads a head that differs from the last one by its target alone; false for any other, and if it isn't complete.
    ///
    /// The guard has checked the request line, which is all there. llhttp isn't asked about the target: it accepts every path of visible
    /// characters.
    func readRepeatedHead(
        _ rest: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTPError) -> Bool {
        guard var last = state.value.repeatable, state.value.accumulated.isEmpty else { return false }
        let target = state.value.head.requestLine.target
        let restCount = state.value.blockLength - last.target.upperBound
        guard target.lowerBound == last.target.lowerBound, rest.count - target.upperBound >= restCount,
            rest[target.lowerBound] == ASCII.slash,
            withBlock({ block in
                block.isEqual(to: rest, in: 0..<target.lowerBound, at: 0)
                    && block.isEqual(
                        to: rest, in: last.target.upperBound..<block.count, at: target.upperBound)
            })
        else { return false }
        completeBlock(rest, target.upperBound + restCount, &offset)
        state.value.head.fieldCount = state.value.fields.count
        let line = try RequestLine(head: &state.value.block, checkedBy: state.value.head.requestLine)
        let shift = target.upperBound - last.target.upperBound
        if shift != 0 {
            for index in state.value.fields.indices { state.value.fields[index].shift(by: shift) }
        }
        last.target = target
        state.value.repeatable = last
        state.value.readHead = RequestHead(
            repeating: last, line: line, bytes: state.value.block, fields: state.value.fields)
        state.value.phase = .bodyAbsent
        return true
    }
}

extension UnsafeRawBufferPointer {
    /// Whether a range of these bytes is at `position` of others, which have as many.
    @inline(__always)
    fileprivate func isEqual(to other: UnsafeRawBufferPointer, in range: Range<Int>, at position: Int) -> Bool
    {
        guard let here = baseAddress, let there = other.baseAddress else { return false }
        return memcmp(here + range.lowerBound, there + position, range.count) == 0
    }
}
