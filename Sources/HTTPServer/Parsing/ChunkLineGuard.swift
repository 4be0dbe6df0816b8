import Bytes

/// Checks the first line of a chunk: its size in hexadecimal digits, and its extensions (RFC 9112 section 7.1).
///
/// Stricter than llhttp: it refuses extensions that don't follow the grammar, a bare CR or LF, and lines that are too
/// long. A value: it takes pieces of any size, and the result doesn't depend on where they are split.
struct ChunkLineGuard {
    enum Result: Equatable {
        case incomplete
        /// The line ends with the first `length` bytes. Its chunk has `size` bytes.
        case complete(length: Int, size: Int)
        case failed(HTTPError)
    }

    private static let maximumDigits = 15  // any 15 digits fit into an Int

    /// Length of the extensions so far, with the blanks before them.
    private(set) var extensionLength = 0

    private let maximumLength: Int
    private var length = 0
    private var digits = 0
    private var size = 0
    private var previousIsCR = false
    private var extensions = ChunkExtensionGuard()

    /// - Parameter maximumLength: in bytes, without CRLF.
    init(maximumLength: Int) {
        self.maximumLength = maximumLength
    }

    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Result {
        for (index, byte) in bytes.enumerated() {
            if previousIsCR {
                guard byte == ASCII.lineFeed else { return .failed(.malformed("A CR without a LF.")) }
                return .complete(length: index + 1, size: size)
            }
            if byte == ASCII.carriageReturn {
                guard digits > 0 else { return .failed(.malformed("A chunk without a size.")) }
                guard extensionLength == 0 || extensions.mayEnd else { return .failed(.malformedExtension) }
                previousIsCR = true
                continue
            }
            length += 1
            guard length <= maximumLength else {
                return .failed(.malformed("A chunk's first line is too long."))
            }
            if let error = check(byte) { return .failed(error) }
        }
        return .incomplete
    }

    private mutating func check(_ byte: UInt8) -> HTTPError? {
        if extensionLength > 0 {
            extensionLength += 1
            return extensions.accepts(byte) ? nil : .malformedExtension
        }
        if let value = byte.hexDigitValue {
            // Leading zeros count: only attackers send many.
            digits += 1
            guard digits <= Self.maximumDigits else { return .bodyTooLarge }
            size = size << 4 | Int(value)
            return nil
        }
        guard digits > 0, byte == ASCII.semicolon || ASCII.isBlank(byte) else {
            return .malformed("A chunk size that is not a hexadecimal number.")
        }
        extensionLength = 1
        return extensions.accepts(byte) ? nil : .malformedExtension
    }
}

/// Checks the grammar of what follows a chunk's size (RFC 9112 section 7.1.1).
private struct ChunkExtensionGuard {
    private enum State {
        case nameStart, name, nameEnd
        case valueStart, token, quoted, escaped, quotedEnd, valueEnd
    }

    /// A size is followed by the same as a value: a semicolon, or blanks and a semicolon.
    private var state = State.valueEnd

    var mayEnd: Bool {
        switch state {
        case .name, .token, .quotedEnd: true
        case .nameStart, .nameEnd, .valueStart, .quoted, .escaped, .valueEnd: false
        }
    }

    mutating func accepts(_ byte: UInt8) -> Bool {
        guard let next = next(byte) else { return false }
        state = next
        return true
    }

    private func next(_ byte: UInt8) -> State? {
        switch state {
        case .quoted:
            switch byte {
            case UInt8(ascii: "\""): .quotedEnd
            case UInt8(ascii: "\\"): .escaped
            default: Self.isText(byte) ? .quoted : nil
            }
        case .escaped: Self.isText(byte) ? .quoted : nil
        case .nameStart: ASCII.isToken(byte) ? .name : ASCII.isBlank(byte) ? .nameStart : nil
        case .valueStart:
            if ASCII.isToken(byte) {
                .token
            } else if byte == UInt8(ascii: "\"") {
                .quoted
            } else {
                ASCII.isBlank(byte) ? .valueStart : nil
            }
        case .name where ASCII.isToken(byte): .name
        case .token where ASCII.isToken(byte): .token
        case .name, .nameEnd:
            byte == UInt8(ascii: "=") ? .valueStart : nextBehindPart(byte, blank: .nameEnd)
        case .token, .quotedEnd, .valueEnd: nextBehindPart(byte, blank: .valueEnd)
        }
    }

    private func nextBehindPart(_ byte: UInt8, blank: State) -> State? {
        byte == ASCII.semicolon ? .nameStart : ASCII.isBlank(byte) ? blank : nil
    }

    private static func isText(_ byte: UInt8) -> Bool {
        byte >= ASCII.space && byte != ASCII.delete || byte == ASCII.tab
    }
}

extension HTTPError {
    fileprivate static let malformedExtension = malformed("A malformed chunk extension.")
}
