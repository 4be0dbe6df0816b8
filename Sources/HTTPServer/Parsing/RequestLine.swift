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

/// Reads a request line byte by byte, and refuses the first byte that no request line of HTTP can have there
/// (RFC 9112 section 3).
///
/// So a peer that doesn't speak HTTP (TLS, SSH, noise) is told so at its first odd byte, not when the time for a
/// header block is over. A value: it is fed pieces of any size and says the same for every split.
struct RequestLineGuard {
    private enum Part {
        case method, target, version
    }

    /// Longer methods are refused as unknown: the longest one that IANA has registered has 17 bytes.
    private static let maximumMethodBytes = 32

    /// Length of the method, in bytes.
    private(set) var methodLength = 0
    /// Length of the line so far, in bytes.
    private(set) var length = 0

    private let maximumBytes: Int
    private var part = Part.method
    private var partLength = 0

    /// - Parameter maximumBytes: longest line, its CRLF not counted.
    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Where the target lies in a line that is complete; its version follows behind one space.
    var target: Range<Int> { methodLength + 1..<max(methodLength + 1, length - partLength - 1) }

    /// Looks at the next bytes, up to the line's CR, where `index` then stands, or to their end.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, from index: inout Int) -> HTTPError? {
        while index < bytes.count {
            let byte = bytes[index]
            if byte == ASCII.carriageReturn { return refusalOfEnd }
            guard length < maximumBytes else { return .requestLineTooLong }
            if let error = look(at: byte) { return error }
            length += 1
            index += 1
        }
        return nil
    }

    @inline(__always)
    private mutating func look(at byte: UInt8) -> HTTPError? {
        switch part {
        case .method:
            guard ASCII.isToken(byte) else { return endMethod(at: byte) }
            methodLength += 1
            return methodLength > Self.maximumMethodBytes ? .unknownMethod : nil
        case .target:
            guard byte > ASCII.space, byte < ASCII.delete else { return endTarget(at: byte) }
        case .version:
            guard Self.fitsVersion(byte, at: partLength) else { return Self.refusal(of: byte, .noVersion) }
        }
        partLength += 1
        return nil
    }

    private mutating func endMethod(at byte: UInt8) -> HTTPError? {
        guard byte == ASCII.space, methodLength > 0 else {
            return Self.refusal(of: byte, .malformed("A request method that is not a token."))
        }
        part = .target
        return nil
    }

    private mutating func endTarget(at byte: UInt8) -> HTTPError? {
        guard byte == ASCII.space else {
            return Self.refusal(
                of: byte, .malformed("A byte in the request target that must be percent-encoded."))
        }
        guard partLength > 0 else { return .malformed("An empty request target.") }
        part = .version
        partLength = 0
        return nil
    }

    /// What is wrong with a line that ends here.
    private var refusalOfEnd: HTTPError? {
        guard part == .version else {
            return .malformed("A request line that is not a method, a target and a version.")
        }
        return partLength == 8 ? nil : .noVersion
    }

    /// A bare LF is named as such wherever it stands.
    private static func refusal(of byte: UInt8, _ otherwise: HTTPError) -> HTTPError {
        byte == ASCII.lineFeed ? .malformed("A LF without a CR.") : otherwise
    }

    /// `HTTP/`, a digit, a dot and a digit (RFC 9112 section 2.3).
    private static func fitsVersion(_ byte: UInt8, at index: Int) -> Bool {
        switch index {
        case 0: byte == UInt8(ascii: "H")
        case 1, 2: byte == UInt8(ascii: "T")
        case 3: byte == UInt8(ascii: "P")
        case 4: byte == ASCII.slash
        case 5, 7: ASCII.isDigit(byte)
        case 6: byte == ASCII.dot
        default: false
        }
    }
}

extension HTTPError {
    fileprivate static let noVersion = malformed("A request line without a version of HTTP.")
}

/// Passes over the empty lines that some clients send before a request line, a bounded number of them
/// (RFC 9112 section 2.2).
struct EmptyLineGuard {
    private let limit: Int
    private var count = 0
    private var previousIsCR = false

    /// - Parameter limit: how many empty lines may come before one request.
    init(limit: Int) {
        self.limit = limit
    }

    /// Number of bytes at the start that are to be passed over; the request starts behind them, if all that
    /// is left isn't empty.
    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) -> Int {
        var index = 0
        while index < bytes.count {
            switch (previousIsCR, bytes[index]) {
            case (true, ASCII.lineFeed):
                previousIsCR = false
                count += 1
                guard count <= limit else { throw .malformed("Too many empty lines before a request.") }
            case (true, _):
                throw .malformed("A CR without a LF.")
            case (false, ASCII.carriageReturn):
                previousIsCR = true
            case (false, ASCII.lineFeed):
                throw .malformed("A LF without a CR.")
            case (false, _):
                return index
            }
            index += 1
        }
        return index
    }
}
