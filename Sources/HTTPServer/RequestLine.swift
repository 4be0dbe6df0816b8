/// The first line of a request, taken apart (RFC 9112 section 3).
///
/// llhttp takes other protocols (RTSP, ICE), a line without a version, and what some versions of it hold for
/// blanks; so the line is read here first, and llhttp has to agree.
struct RequestLine {
    let method: HTTPMethod
    let target: RequestTarget
    let version: HTTPVersion

    /// Reads the line that starts a head.
    init(head bytes: UnsafeRawBufferPointer) throws(HTTPError) {
        guard let end = bytes.firstIndex(of: ASCII.carriageReturn),
            let firstSpace = bytes[..<end].firstIndex(of: ASCII.space),
            let lastSpace = bytes[..<end].lastIndex(of: ASCII.space), lastSpace > firstSpace
        else { throw .malformed("A request line that is not a method, a target and a version.") }

        let methodBytes = bytes[..<firstSpace]
        guard !methodBytes.isEmpty, methodBytes.allSatisfy(ASCII.isToken) else {
            throw .malformed("A request method that is not a token.")
        }
        version = try Self.version(bytes[(lastSpace + 1)..<end])
        method = HTTPMethod(tokenBytes: methodBytes)
        guard method != .connect else {
            throw HTTPError(.notImplemented, .methodNotImplemented, "This server makes no tunnels.")
        }
        target = try RequestTarget(bytes, (firstSpace + 1)..<lastSpace, method: method)
    }

    private static func version(_ bytes: Slice<UnsafeRawBufferPointer>) throws(HTTPError) -> HTTPVersion {
        let prefix: StaticString = "HTTP/"
        let start = bytes.startIndex
        let hasForm = prefix.withUTF8Buffer { prefix in
            bytes.count == 8 && bytes.starts(with: prefix) && ASCII.isDigit(bytes[start + 5])
                && bytes[start + 6] == ASCII.dot && ASCII.isDigit(bytes[start + 7])
        }
        guard hasForm else { throw .malformed("A request line without a version of HTTP.") }
        switch (bytes[start + 5], bytes[start + 7]) {
        case (UInt8(ascii: "1"), UInt8(ascii: "1")): return .http11
        case (UInt8(ascii: "1"), UInt8(ascii: "0")): return .http10
        default:
            throw HTTPError(
                .httpVersionNotSupported, .versionNotSupported, "This server speaks HTTP/1.1 and HTTP/1.0.")
        }
    }
}
