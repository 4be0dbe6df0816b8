/// Reads the line that opens a chunk: its size in hexadecimal digits, and extensions (RFC 9112 section 7.1).
///
/// Stricter than llhttp: no blank before the extensions, no control character in them, no bare CR or LF, and
/// a bound on their length. A value: fed pieces of any size, it says the same for every split.
struct ChunkLineGuard {
    enum Result: Equatable {
        case incomplete
        /// The line ends with the first `length` bytes and opens a chunk of `size` bytes.
        case complete(length: Int, size: Int)
        case failed(HTTPError)
    }

    private static let maximumDigits = 15  // fits an Int whatever the digits are

    /// Length of the extensions so far.
    private(set) var extensionLength = 0

    private let maximumLength: Int
    private var length = 0
    private var digits = 0
    private var size = 0
    private var previousIsCR = false

    /// - Parameter maximumLength: longest line in bytes, its CRLF not counted.
    init(maximumLength: Int) {
        self.maximumLength = maximumLength
    }

    /// Looks at the next bytes, none of which were seen before.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Result {
        for (index, byte) in bytes.enumerated() {
            if previousIsCR {
                guard byte == ASCII.lineFeed else { return .failed(.malformed("A CR without a LF.")) }
                return .complete(length: index + 1, size: size)
            }
            if byte == ASCII.carriageReturn {
                guard digits > 0 else { return .failed(.malformed("A chunk without a size.")) }
                previousIsCR = true
                continue
            }
            length += 1
            guard length <= maximumLength else {
                return .failed(.malformed("A chunk's first line is too long."))
            }
            if let error = look(at: byte) { return .failed(error) }
        }
        return .incomplete
    }

    private mutating func look(at byte: UInt8) -> HTTPError? {
        if extensionLength > 0 {
            extensionLength += 1
            let isControl = byte < ASCII.space && byte != ASCII.tab || byte == ASCII.delete
            return isControl ? .malformed("A control character in a chunk extension.") : nil
        }
        if let value = ASCII.hexValue(byte) {
            // Leading zeros are digits too: nobody sends them but to confuse.
            digits += 1
            guard digits <= Self.maximumDigits else { return .bodyTooLarge }
            size = size << 4 | Int(value)
            return nil
        }
        guard byte == ASCII.semicolon, digits > 0 else {
            return .malformed("A chunk size that is not a hexadecimal number.")
        }
        extensionLength = 1
        return nil
    }
}
