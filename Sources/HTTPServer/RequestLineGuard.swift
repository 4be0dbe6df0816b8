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
