/// Finds the end of a head, or of a chunked body's trailers, and refuses bytes that llhttp wrongly accepts there.
/// `RequestHead` reads the fields.
///
/// llhttp accepts bytes that other parsers read differently: a line that continues the one before (obs-fold), an empty
/// field name, and in some versions a bare CR. The guard checks every byte before llhttp does, enforces the limits, and
/// refuses bare CR, bare LF and all other control characters (RFC 9112 sections 2.2 and 5). A value: it takes pieces of
/// any size, and the result doesn't depend on where they are split.
struct HeadGuard {
    enum Result: Equatable {
        case incomplete
        /// The block ends with the first `length` bytes.
        case complete(length: Int)
        case failed(HTTPError)
    }

    private(set) var fieldCount = 0
    private(set) var requestLine: RequestLineGuard
    /// Whether a field line ends with blanks. They aren't part of the value (RFC 9112 section 5), and llhttp 8.1
    /// refuses some of them.
    private(set) var hasTrailingBlanks = false

    private let maximumBlockBytes: Int
    private var isInRequestLine: Bool
    private var lineLength = 0
    private var endsInBlank = false
    private var fieldBytes = 0
    private var previousIsCR = false

    init(requestHead limits: HTTPLimits) {
        self.init(limits, isInRequestLine: true)
    }

    init(trailers limits: HTTPLimits) {
        self.init(limits, isInRequestLine: false)
    }

    private init(_ limits: HTTPLimits, isInRequestLine: Bool) {
        self.requestLine = RequestLineGuard(maximumBytes: limits.requestLineBytes)
        self.maximumBlockBytes = limits.headerBlockBytes
        self.isInRequestLine = isInRequestLine
    }

    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Result {
        var index = 0
        while index < bytes.count {
            if previousIsCR {
                guard bytes[index] == ASCII.lineFeed else { return .failed(.malformed("A CR without a LF.")) }
                previousIsCR = false
                index += 1
                if endLine() { return .complete(length: index) }
                if fieldBytes > maximumBlockBytes { return .failed(.headersTooLarge) }
                continue
            }
            if isInRequestLine {
                if let error = requestLine.scan(bytes, from: &index) { return .failed(error) }
                guard index < bytes.count else { break }
            }
            let end = Self.endOfText(in: bytes, from: index)
            if end > index {
                let text = UnsafeRawBufferPointer(rebasing: bytes[index..<end])
                if let error = check(text) { return .failed(error) }
                index = end
            }
            guard index < bytes.count else { break }
            if let error = checkControl(bytes[index]) { return .failed(error) }
            index += 1
        }
        return .incomplete
    }

    /// The end of the run of bytes that are allowed inside a line.
    @inline(__always)
    static func endOfText(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        let lastEight = bytes.count - 8
        while index <= lastEight {
            let eight = EightBytes(bytes, at: index)
            let marks = eight.below(ASCII.space) | eight.equal(to: ASCII.delete)
            index &+= marks == 0 ? 8 : EightBytes.countBefore(marks)
            if marks == 0 { continue }
            guard bytes[index] == ASCII.tab else { return index }
            index &+= 1
        }
        while index < bytes.count, isText(bytes[index]) { index &+= 1 }
        return index
    }

    @inline(__always)
    private static func isText(_ byte: UInt8) -> Bool {
        byte >= ASCII.space && byte != ASCII.delete || byte == ASCII.tab
    }

    private mutating func check(_ text: UnsafeRawBufferPointer) -> HTTPError? {
        if lineLength == 0 {
            if ASCII.isBlank(text[0]) { return .malformed("A header line that continues the one before.") }
            if text[0] == ASCII.colon { return .malformed("A header field without a name.") }
        }
        lineLength += text.count
        fieldBytes += text.count
        endsInBlank = ASCII.isBlank(text[text.count - 1])
        return fieldBytes > maximumBlockBytes ? .headersTooLarge : nil
    }

    private mutating func checkControl(_ byte: UInt8) -> HTTPError? {
        switch byte {
        case ASCII.carriageReturn:
            previousIsCR = true
            return nil
        case ASCII.lineFeed:
            return .malformed("A LF without a CR.")
        default:
            return .malformed("A control character in the header block.")
        }
    }

    /// Returns whether it was the empty line that ends the block.
    private mutating func endLine() -> Bool {
        if isInRequestLine {
            isInRequestLine = false
        } else {
            if lineLength == 0 { return true }
            fieldCount += 1
            fieldBytes += 2
            if endsInBlank { hasTrailingBlanks = true }
        }
        lineLength = 0
        endsInBlank = false
        return false
    }

    /// Removes the blanks at the ends of a complete block's lines.
    static func removingTrailingBlanks(from block: UnsafeRawBufferPointer) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(block.count)
        for byte in block {
            if byte == ASCII.carriageReturn {
                while let last = kept.last, ASCII.isBlank(last) { kept.removeLast() }
            }
            kept.append(byte)
        }
        return kept
    }
}
