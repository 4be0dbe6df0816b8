/// Reads heads that need no second opinion: of GET or HEAD for a path, with fields that every recipient reads in the same way,
/// none of which says that something follows.
///
/// Nearly all heads are plain, and they are read in one pass. Every byte is checked: names are tokens, lines end with CRLF,
/// values have no control characters, and there is neither a `Content-Length` nor a `Transfer-Encoding`. So the head
/// ends at its empty line, whoever reads it, and llhttp isn't asked. All other heads are read by `HeadGuard`,
/// `RequestHead` and llhttp, which also say what is wrong with one.
extension RequestParser {
    /// Reads a plain head; false for any other, and for one that isn't complete.
    ///
    /// The guard has checked the request line, which is all there, in bytes that begin with it and end at `start`.
    func readPlainHead(
        _ rest: UnsafeRawBufferPointer, from start: Int, _ offset: inout Int
    ) throws(HTTPError) -> Bool {
        let checked = state.value.head.requestLine
        guard state.value.accumulated.isEmpty, rest[checked.target.lowerBound] == ASCII.slash else {
            return false
        }
        let method = HTTPMethod(
            tokenBytes: UnsafeRawBufferPointer(rebasing: rest[..<checked.methodLength]))
        guard method == .get || method == .head else { return false }
        var end = start
        let read = RequestHead.plainFacts(rest, from: &end, &state.value.fields, limits: limits)
        guard let facts = read else { return false }
        completeBlock(rest, end, &offset)
        state.value.head.fieldCount = state.value.fields.count
        let line = try RequestLine(head: &state.value.block, checkedBy: checked)
        state.value.readHead = RequestHead(
            plain: facts, line: line, bytes: state.value.block, fields: state.value.fields)
        state.value.phase = .bodyAbsent
        return true
    }
}
