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
    /// Whether the client wants the connection kept (RFC 9112 section 9.3).
    let keepsAlive: Bool
    /// Whether the client waits for a 100 before it sends the body (RFC 9110 section 10.1.1).
    let expectsContinue: Bool
}

/// The versions of HTTP that this server supports.
enum HTTPVersion: Sendable {
    case http10
    case http11
}

extension RequestHead {
    /// What the fields that the HTTP layer itself uses have said so far.
    fileprivate struct Facts {
        var hostCount = 0
        var contentLength: Int?
        var isChunked = false
        /// Whether there is a transfer coding other than chunked.
        var hasOtherCoding = false
        var wantsClose = false
        var wantsKeepAlive = false
        var expectsContinue = false
    }

    /// Makes a head from a request line and the fields that llhttp found, and refuses fields that contradict each other
    /// or HTTP, which llhttp accepts.
    ///
    /// - Parameter bytes: the complete head, which the fields' offsets refer to.
    /// - Throws: 400 for ambiguous or missing fields, 413, 417 for an unknown expectation, 501 for an unknown transfer
    ///   coding.
    init(
        line: RequestLine, bytes: [UInt8], fields: [HTTPHeaders.Field], limits: HTTPLimits
    ) throws(HTTPError) {
        var fields = fields
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(HTTPError) in
                try Self.facts(bytes, &fields, version: line.version)
            }
        }
        let facts = try result.get()
        if line.version == .http11, facts.hostCount == 0 { throw .malformed("A request without a Host.") }
        if facts.isChunked || facts.hasOtherCoding {
            try facts.checkTransferCodings()
            framing = .chunked
        } else if let length = facts.contentLength, length > 0 {
            guard length <= limits.bodyBytes else { throw .bodyTooLarge }
            framing = .length(length)
        } else {
            framing = .none
        }
        version = line.version
        keepsAlive = !facts.wantsClose && (version == .http11 || facts.wantsKeepAlive)
        expectsContinue = facts.expectsContinue && version == .http11 && framing != .none
        request = HTTPRequest(
            method: line.method, bytes: bytes, target: line.target,
            headers: HTTPHeaders(storage: bytes, fields: fields))
    }

    private static func facts(
        _ bytes: UnsafeRawBufferPointer, _ fields: inout [HTTPHeaders.Field], version: HTTPVersion
    ) throws(HTTPError) -> Facts {
        var facts = Facts()
        for index in fields.indices {
            let name = bytes[fields[index].nameStart..<fields[index].nameEnd]
            guard let last = name.last, !ASCII.isBlank(last) else {
                throw .malformed("A blank between a field's name and its colon.")
            }
            if fields[index].valueStart < 0 {
                fields[index].valueStart = fields[index].nameEnd
                fields[index].valueEnd = fields[index].nameEnd
            }
            let value = ASCII.trimmed(bytes[fields[index].valueStart..<fields[index].valueEnd])
            fields[index].valueStart = value.startIndex
            fields[index].valueEnd = value.endIndex
            try facts.read(name, value, version: version)
        }
        return facts
    }
}

extension RequestHead.Facts {
    fileprivate mutating func read(
        _ name: Slice<UnsafeRawBufferPointer>, _ value: Slice<UnsafeRawBufferPointer>, version: HTTPVersion
    ) throws(HTTPError) {
        // Few names have one of these lengths, so most fields aren't compared at all.
        switch name.count {
        case 4 where ASCII.equalIgnoringCase(name, "host".utf8):
            hostCount += 1
            guard hostCount == 1 else { throw .malformed("A repeated Host.") }
            guard HostValidation.isValid(value) else { throw .malformed("An invalid Host.") }
        case 6 where ASCII.equalIgnoringCase(name, "expect".utf8):
            try readExpect(value)
        case 10 where ASCII.equalIgnoringCase(name, "connection".utf8):
            readConnection(value)
        case 14 where ASCII.equalIgnoringCase(name, "content-length".utf8):
            guard contentLength == nil else { throw .malformed("A repeated Content-Length.") }
            contentLength = try Self.length(value)
        case 17 where ASCII.equalIgnoringCase(name, "transfer-encoding".utf8):
            try readTransferEncoding(value, version: version)
        default:
            break
        }
    }

    private mutating func readExpect(_ value: Slice<UnsafeRawBufferPointer>) throws(HTTPError) {
        guard ASCII.equalIgnoringCase(value, "100-continue".utf8) else {
            throw HTTPError(
                .expectationFailed, .expectationFailed,
                "The only expectation this server meets is 100-continue.")
        }
        expectsContinue = true
    }

    private mutating func readConnection(_ value: Slice<UnsafeRawBufferPointer>) {
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
    fileprivate func checkTransferCodings() throws(HTTPError) {
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
        if first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            return isIPLiteral(bytes[(bytes.startIndex + 1)..<end]) && isPort(bytes[(end + 1)...])
        }
        let end = bytes.firstIndex(of: ASCII.colon) ?? bytes.endIndex
        return isName(bytes[..<end]) && isPort(bytes[end...])
    }

    /// An IPv6 address, roughly: it isn't used here, so only its characters are checked.
    private static func isIPLiteral(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { ASCII.isLetterOrDigit($0) || $0 == ASCII.colon || $0 == ASCII.dot }
    }

    private static func isName(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard !bytes.isEmpty else { return false }
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == ASCII.percent {
                guard PercentDecoding.byte(at: index, of: bytes) != nil else { return false }
                index += 3
            } else {
                guard isNameByte(bytes[index]) else { return false }
                index += 1
            }
        }
        return true
    }

    /// Unreserved characters and sub-delimiters.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        default:
            ASCII.isLetterOrDigit(byte)
        }
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
