import Bytes

/// A request without its body, and what its head says about framing and the connection.
struct RequestHead: Sendable {
    /// How the body is delimited (RFC 9112 section 6).
    enum Framing: Equatable, Sendable {
        case none
        case length(Int)
        case chunked
    }

    var request: HTTPRequest
    let version: HTTPVersion
    let framing: Framing
    let keepsAlive: Bool
    /// Whether the client waits for a 100 before it sends the body (RFC 9110 section 10.1.1).
    let expectsContinue: Bool
}

enum HTTPVersion: Sendable {
    case http10
    case http11
}

extension RequestHead {
    /// What is known so far from the fields that the HTTP layer itself uses.
    struct Facts {
        var hostCount = 0
        var contentLength: Int?
        var isChunked = false
        var hasOtherCoding = false
        var wantsClose = false
        var wantsKeepAlive = false
        var expectsContinue = false
        var knownFields: UInt32 = 0

        /// RFC 9112 section 9.3.
        func keepsAlive(_ version: HTTPVersion) -> Bool {
            !wantsClose && (version == .http11 || wantsKeepAlive)
        }

        var framing: Framing {
            if isChunked { return .chunked }
            guard let contentLength, contentLength > 0 else { return .none }
            return .length(contentLength)
        }
    }

    /// - Parameter bytes: begin with the complete head.
    init(line: RequestLine, facts: Facts, bytes: [UInt8], fields: [HTTPHeaders.Field]) {
        version = line.version
        framing = facts.framing
        keepsAlive = facts.keepsAlive(version)
        expectsContinue = facts.expectsContinue && version == .http11 && framing != .none
        request = HTTPRequest(
            method: line.method, bytes: bytes, target: line.target,
            headers: HTTPHeaders(storage: bytes, fields: fields, knownFields: facts.knownFields))
    }
}

extension RequestHead.Facts {
    /// Reads the lines of fields behind a request line, and refuses fields that contradict each other or HTTP: 400, 413, 417, or
    /// 501 for an unknown transfer coding.
    ///
    /// - Parameters:
    ///   - bytes: begin with the complete head, which the guard has checked. llhttp may still refuse it.
    ///   - fields: one for each line, to be overwritten, so that their memory is used again.
    init(
        _ line: RequestLine, _ bytes: [UInt8], length: Int, _ fields: inout [HTTPHeaders.Field],
        limits: HTTPLimits
    ) throws(HTTPError) {
        self = try Self.read(bytes, line.end..<length, &fields, version: line.version)
        if line.version == .http11, hostCount == 0 { throw .malformed("A request without a Host.") }
        if isChunked || hasOtherCoding {
            try checkTransferCodings()
        } else if let contentLength, contentLength > limits.bodyBytes {
            throw .bodyTooLarge
        }
    }

    /// - Parameter lines: the range of the lines of fields, with the empty line that ends the head.
    private static func read(
        _ bytes: [UInt8], _ lines: Range<Int>, _ fields: inout [HTTPHeaders.Field], version: HTTPVersion
    ) throws(HTTPError) -> Self {
        let result = bytes.withUnsafeBytes { bytes in
            fields.withUnsafeMutableBufferPointer { fields in
                Result { () throws(HTTPError) in
                    var facts = Self()
                    let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<lines.upperBound])
                    var index = lines.lowerBound
                    for number in fields.indices {
                        fields[number] = try facts.readLine(bytes, from: &index, version: version)
                    }
                    guard index == bytes.count - 2 else { throw .disagreement }
                    return facts
                }
            }
        }
        return try result.get()
    }

    /// Reads the value if it matters for framing or the connection. Moves `index` behind the line.
    private mutating func readLine(
        _ bytes: UnsafeRawBufferPointer, from index: inout Int, version: HTTPVersion
    ) throws(HTTPError) -> HTTPHeaders.Field {
        let nameStart = index
        let nameEnd = Self.endOfName(in: bytes, from: index)
        let lineEnd = HeadGuard.endOfText(in: bytes, from: nameEnd)
        guard nameStart < nameEnd, lineEnd < bytes.count else { throw .disagreement }
        if ASCII.isBlank(bytes[nameEnd - 1]) {
            throw .malformed("A blank between a field's name and its colon.")
        }
        let known = KnownField(UnsafeRawBufferPointer(rebasing: bytes[nameStart..<nameEnd]))
        let field = HTTPHeaders.Field(bytes, name: nameStart..<nameEnd, end: lineEnd, known)
        if let known {
            knownFields |= known.bit
            try read(known, bytes[field.valueStart..<field.valueEnd], version: version)
        }
        index = lineEnd + 2
        return field
    }

    @inline(__always)
    static func endOfName(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        let lastEight = bytes.count - 8
        while index <= lastEight {
            let marks = EightBytes(bytes, at: index).equal(to: ASCII.colon)
            if marks != 0 { return index + EightBytes.countBefore(marks) }
            index &+= 8
        }
        while index < bytes.count, bytes[index] != ASCII.colon { index &+= 1 }
        return index
    }

    mutating func read(
        _ field: KnownField, _ value: Slice<UnsafeRawBufferPointer>, version: HTTPVersion
    ) throws(HTTPError) {
        switch field {
        case .host:
            hostCount += 1
            guard hostCount == 1 else { throw .malformed("A repeated Host.") }
            guard HostValidation.isValid(value) else { throw .malformed("An invalid Host.") }
        case .expect: try readExpect(value)
        case .connection: readConnection(value)
        case .contentLength:
            guard contentLength == nil else { throw .malformed("A repeated Content-Length.") }
            contentLength = try Self.length(value)
        case .transferEncoding: try readTransferEncoding(value, version: version)
        case .accept, .acceptEncoding, .authorization, .contentEncoding, .contentType, .ifMatch, .ifNoneMatch,
            .origin, .traceParent, .requestID:
            break
        }
    }

    /// Reads a list, whose empty elements don't count (RFC 9110 sections 5.6.1.2 and 10.1.1).
    private mutating func readExpect(_ value: Slice<UnsafeRawBufferPointer>) throws(HTTPError) {
        for expectation in value.split(separator: ASCII.comma) {
            let expectation = ASCII.trimmed(expectation)
            if expectation.isEmpty { continue }
            guard ASCII.equalIgnoringCase(expectation, "100-continue".utf8) else {
                throw HTTPError(
                    .expectationFailed, .expectationFailed,
                    "The only expectation this server meets is 100-continue.")
            }
            expectsContinue = true
        }
    }

    private mutating func readConnection(_ value: Slice<UnsafeRawBufferPointer>) {
        // What browsers send with every request.
        if ASCII.isLowercase("keep-alive", of: UnsafeRawBufferPointer(rebasing: value)) {
            wantsKeepAlive = true
            return
        }
        for option in value.split(separator: ASCII.comma) {
            let option = ASCII.trimmed(option)
            if ASCII.equalIgnoringCase(option, "close".utf8) { wantsClose = true }
            if ASCII.equalIgnoringCase(option, "keep-alive".utf8) { wantsKeepAlive = true }
        }
    }

    /// Adds the codings of a field. Several fields make one list (RFC 9110 section 5.3).
    private mutating func readTransferEncoding(
        _ value: Slice<UnsafeRawBufferPointer>, version: HTTPVersion
    ) throws(HTTPError) {
        guard version == .http11 else { throw .malformed("A Transfer-Encoding in HTTP/1.0.") }
        for coding in value.split(separator: ASCII.comma, omittingEmptySubsequences: false) {
            let coding = ASCII.trimmed(coding)
            guard !coding.isEmpty else { throw .malformed("An empty Transfer-Encoding.") }
            guard !isChunked else { throw .malformed("A transfer coding behind chunked.") }
            if ASCII.equalIgnoringCase(coding, "chunked".utf8) {
                isChunked = true
            } else {
                hasOtherCoding = true
            }
        }
    }

    /// Refuses a request whose body's end is ambiguous: chunked must be the last coding (RFC 9112 section 6.3).
    private func checkTransferCodings() throws(HTTPError) {
        guard contentLength == nil else {
            throw .malformed("A request with both a Content-Length and a Transfer-Encoding.")
        }
        guard isChunked else { throw .malformed("A Transfer-Encoding that does not end in chunked.") }
        guard !hasOtherCoding else {
            throw HTTPError(
                .notImplemented, .transferCodingNotImplemented,
                "The only transfer coding this server knows is chunked.")
        }
    }

    /// Reads decimal digits and nothing else. A number that doesn't fit into an Int exceeds every limit.
    private static func length(_ value: Slice<UnsafeRawBufferPointer>) throws(HTTPError) -> Int {
        guard !value.isEmpty else { throw .malformed("An empty Content-Length.") }
        var length = 0
        for byte in value {
            guard ASCII.isDigit(byte) else { throw .malformed("A Content-Length that is not a number.") }
            let (product, overflowed) = length.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(Int(byte - ASCII.zero))
            guard !overflowed, !carried else { throw .bodyTooLarge }
            length = sum
        }
        return length
    }
}

/// Checks a host with an optional port, as in `Host` and in an absolute target (RFC 9110 section 7.2, RFC 3986 section
/// 3.2).
enum HostValidation {
    static func isValid(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let first = bytes.first else { return false }
        let whole = UnsafeRawBufferPointer(rebasing: bytes)
        if ASCII.endOfWord(in: whole, from: 0) == whole.count { return true }
        if first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            return isIPLiteral(bytes[(bytes.startIndex + 1)..<end]) && isPort(bytes[(end + 1)...])
        }
        guard let end = endOfName(bytes) else { return false }
        return end > bytes.startIndex && isPort(bytes[end...])
    }

    /// An IPv6 address, roughly: it isn't used here, so only its characters are checked.
    private static func isIPLiteral(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { ASCII.isLetterOrDigit($0) || $0 == ASCII.colon || $0 == ASCII.dot }
    }

    /// Where a name ends, at a colon or at the end; nil if a byte before that can't be part of one.
    private static func endOfName(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
        let whole = UnsafeRawBufferPointer(rebasing: bytes)
        var index = bytes.startIndex + ASCII.endOfWord(in: whole, from: 0)
        while index < bytes.endIndex {
            let byte = bytes.base[index]
            if ASCII.isHostName(byte) {
                index &+= 1
            } else if byte == ASCII.percent, bytes.endIndex - index > 2,
                bytes[index + 1].hexDigitValue != nil, bytes[index + 2].hexDigitValue != nil
            {
                index += 3
            } else {
                return byte == ASCII.colon ? index : nil
            }
        }
        return index
    }

    /// Nothing, or a colon and a number up to 65535, which may be missing.
    private static func isPort(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let first = bytes.first else { return true }
        guard first == ASCII.colon, bytes.count <= 6 else { return false }
        var port = 0
        for byte in bytes.dropFirst() {
            guard ASCII.isDigit(byte) else { return false }
            port = port * 10 + Int(byte - ASCII.zero)
        }
        return port <= 65535
    }
}
