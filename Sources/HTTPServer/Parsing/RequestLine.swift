/// The parts of a request line (RFC 9112 section 3).
///
/// llhttp accepts other protocols (RTSP, ICE), lines without a version, and in some versions other characters as
/// blanks. So the line is read here first, and llhttp has to agree.
struct RequestLine {
    let method: HTTPMethod
    let target: RequestTarget
    let version: HTTPVersion
    let end: Int

    /// Reads the first line of a head, whose form a guard has checked.
    ///
    /// Changes a minor version above 1 to 1: it adds nothing that a recipient has to know (RFC 9110 section 2.5), and
    /// llhttp refuses it. Throws 505 for another major version, 501 for `CONNECT`, 400 for an invalid target.
    init(head bytes: inout [UInt8], checkedBy line: RequestLineGuard) throws(HTTPError) {
        let (major, minor) = (line.length - 3, line.length - 1)
        end = line.length + 2
        guard bytes[major] == UInt8(ascii: "1") else {
            throw HTTPError(
                .httpVersionNotSupported, .versionNotSupported, "This server speaks HTTP/1.1 and HTTP/1.0.")
        }
        version = bytes[minor] == ASCII.zero ? .http10 : .http11
        if version == .http11, bytes[minor] != UInt8(ascii: "1") { bytes[minor] = UInt8(ascii: "1") }
        method = HTTPMethod(tokenBytes: bytes[..<line.methodLength])
        guard method != .connect else {
            throw HTTPError(.notImplemented, .methodNotImplemented, "This server makes no tunnels.")
        }
        target = try RequestTarget(checked: bytes, line.target, method: method)
    }
}

/// Checks a request line byte by byte, and refuses the first byte that is invalid at its position (RFC 9112 section 3).
///
/// So a peer that doesn't speak HTTP (TLS, SSH, noise) gets its error at the first wrong byte, not at the deadline of
/// the header block. A value: it takes pieces of any size, and the result doesn't depend on where they are split.
struct RequestLineGuard {
    private enum Part {
        case method, target, version
    }

    private(set) var methodLength = 0
    private(set) var length = 0

    private let maximumBytes: Int
    private var part = Part.method
    private var partLength = 0

    /// - Parameter maximumBytes: without CRLF.
    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// The range of the target in a complete line. The version follows after one space.
    var target: Range<Int> { methodLength + 1..<max(methodLength + 1, length - partLength - 1) }

    /// Checks the next bytes up to the line's CR. Moves `index` to the CR, or to the end of the bytes.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, from index: inout Int) -> HTTPError? {
        while index < bytes.count {
            // The line's limit may be reached before the bytes end.
            let end = min(bytes.count, index + (maximumBytes - length))
            let start = index
            let error = scanPart(bytes, from: &index, to: end)
            length += index - start
            if let error { return error }
            guard index < bytes.count else { break }
            let byte = bytes[index]
            if byte == ASCII.carriageReturn { return refusalOfEnd }
            guard length < maximumBytes else { return .requestLineTooLong }
            if let error = endPart(at: byte) { return error }
            length += 1
            index += 1
        }
        return nil
    }

    /// Moves `index` behind the bytes that belong to the part of the line that it is in.
    @inline(__always)
    private mutating func scanPart(
        _ bytes: UnsafeRawBufferPointer, from index: inout Int, to end: Int
    ) -> HTTPError? {
        let start = index
        switch part {
        case .method:
            while index < end, ASCII.isToken(bytes[index]) { index &+= 1 }
            methodLength += index - start
            if methodLength > HTTPMethod.maximumBytes { return .unknownMethod }
        case .target:
            while end - index >= 8, EightBytes(bytes, at: index).areVisible { index &+= 8 }
            while index < end, bytes[index] > ASCII.space, bytes[index] < ASCII.delete { index &+= 1 }
        case .version:
            while index < end, Self.fitsVersion(bytes[index], at: partLength + index - start) { index &+= 1 }
        }
        partLength += index - start
        return nil
    }

    /// Ends a part at a byte that doesn't belong to it, and isn't the line's CR.
    private mutating func endPart(at byte: UInt8) -> HTTPError? {
        switch part {
        case .method: endMethod(at: byte)
        case .target: endTarget(at: byte)
        case .version: Self.refusal(of: byte, .noVersion)
        }
    }

    private mutating func endMethod(at byte: UInt8) -> HTTPError? {
        guard byte == ASCII.space, methodLength > 0 else {
            return Self.refusal(of: byte, .malformed("A request method that is not a token."))
        }
        part = .target
        partLength = 0
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

    /// The error of a line that ends here; nil if it is complete.
    private var refusalOfEnd: HTTPError? {
        guard part == .version else {
            return .malformed("A request line that is not a method, a target and a version.")
        }
        return partLength == 8 ? nil : .noVersion
    }

    /// The error of an invalid byte: a bare LF has its own, wherever it is.
    private static func refusal(of byte: UInt8, _ otherwise: HTTPError) -> HTTPError {
        byte == ASCII.lineFeed ? .malformed("A LF without a CR.") : otherwise
    }

    /// Whether a version may have this byte here: `HTTP/`, a digit, a dot and a digit (RFC 9112 section 2.3).
    @inline(__always)
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

extension EightBytes {
    @inline(__always)
    fileprivate var areVisible: Bool {
        below(ASCII.space + 1) | equal(to: ASCII.delete) | beyondASCII == 0
    }
}

extension HTTPError {
    fileprivate static let noVersion = malformed("A request line without a version of HTTP.")
}

/// Skips the empty lines that some clients send before a request line, up to a limit (RFC 9112 section 2.2).
struct EmptyLineGuard {
    private let limit: Int
    private var count = 0
    private var previousIsCR = false

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of bytes to skip. Throws 400 for too many empty lines, and for a bare CR or LF.
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
