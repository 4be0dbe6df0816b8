extension RequestParser {
    /// The client's id for a request whose head was refused, or isn't complete; nil where it has given none.
    ///
    /// If a head is refused while it arrives, only the lines before the fault are read, so that the id doesn't depend
    /// on how the bytes were split.
    var clientRequestID: RequestID? {
        switch state.value.phase {
        case .failed: state.value.refusedRequestID
        case .head: readRequestID()
        default: nil
        }
    }

    func readRequestID() -> RequestID? {
        let head = state.value.head
        guard head.fieldCount > 0 else { return nil }
        let find = { (bytes: UnsafeRawBufferPointer) in
            Self.requestID(in: bytes, from: head.requestLine.length + 2, lines: head.fieldCount)
        }
        return state.value.accumulated.isEmpty
            ? withBlock(find) : state.value.accumulated.withUnsafeBytes(find)
    }

    private static func requestID(
        in bytes: UnsafeRawBufferPointer, from start: Int, lines: Int
    ) -> RequestID? {
        var start = start
        for _ in 0..<lines {
            let end = HeadGuard.endOfText(in: bytes, from: start)
            guard end < bytes.count else { return nil }
            let line = bytes[start..<end]
            start = end + 2
            guard let colon = line.firstIndex(of: ASCII.colon),
                ASCII.equalIgnoringCase(line[..<colon], "x-request-id".utf8)
            else { continue }
            return RequestIDs.accepted(ASCII.trimmed(line[(colon + 1)...]))
        }
        return nil
    }
}
