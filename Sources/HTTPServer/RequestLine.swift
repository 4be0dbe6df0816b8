/// The first line of a request, taken apart (RFC 9112 section 3).
///
/// llhttp takes other protocols (RTSP, ICE), a line without a version, and what some versions of it hold for
/// blanks; so the line is read here first, and llhttp has to agree.
struct RequestLine {
    let method: HTTPMethod
    let target: RequestTarget
    let version: HTTPVersion

    /// Reads the line that starts a head, whose form a guard has checked.
    ///
    /// A minor version above 1 becomes 1 in the head: it adds nothing that a recipient has to know (RFC 9110 section
    /// 2.5), and llhttp refuses it.
    init(head bytes: inout [UInt8], checkedBy line: RequestLineGuard) throws(HTTPError) {
        let (major, minor) = (line.length - 3, line.length - 1)
        guard bytes[major] == UInt8(ascii: "1") else {
            throw HTTPError(
                .httpVersionNotSupported, .versionNotSupported, "This server speaks HTTP/1.1 and HTTP/1.0.")
        }
        version = bytes[minor] == ASCII.zero ? .http10 : .http11
        if version == .http11 { bytes[minor] = UInt8(ascii: "1") }
        let parts = bytes.withUnsafeBytes { bytes in
            Result { () throws(HTTPError) in
                let method = HTTPMethod(tokenBytes: bytes[..<line.methodLength])
                guard method != .connect else {
                    throw HTTPError(.notImplemented, .methodNotImplemented, "This server makes no tunnels.")
                }
                return (method, try RequestTarget(bytes, line.target, method: method))
            }
        }
        (method, target) = try parts.get()
    }
}
