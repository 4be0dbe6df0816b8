/// The bytes that have a meaning in HTTP/1.1, and its character classes (RFC 9110 section 5.6.2).
enum ASCII {
    static let nul: UInt8 = 0x00
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let numberSign: UInt8 = 0x23
    static let percent: UInt8 = 0x25
    static let asterisk: UInt8 = 0x2A
    static let comma: UInt8 = 0x2C
    static let hyphen: UInt8 = 0x2D
    static let dot: UInt8 = 0x2E
    static let slash: UInt8 = 0x2F
    static let zero: UInt8 = 0x30
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let questionMark: UInt8 = 0x3F
    static let delete: UInt8 = 0x7F

    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool { isDigit(byte) || isLetter(byte) }

    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool { tokens.contains(byte) }

    private static var tokens: ASCIISet { ASCIISet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }

    /// Whether bytes are a token, if they aren't none.
    @inline(__always)
    static func areToken(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = endOfWord(in: bytes, from: 0)
        while index < bytes.count, isToken(bytes[index]) { index &+= 1 }
        return index == bytes.count
    }

    /// Whether a byte may be part of a host's name unescaped: unreserved characters and sub-delimiters (RFC 3986
    /// section 3.2.2).
    @inline(__always)
    static func isHostName(_ byte: UInt8) -> Bool { hostNames.contains(byte) }

    private static var hostNames: ASCIISet {
        ASCIISet(low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }

    /// The end of the run of letters, digits, hyphens, dots and underscores, which nearly all names and ids are made of.
    @inline(__always)
    static func endOfWord(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        let lastEight = bytes.count - 8
        while index <= lastEight {
            let marks = EightBytes(bytes, at: index).beyondWords
            if marks != 0 { return index &+ EightBytes.countBefore(marks) }
            index &+= 8
        }
        // The last eight bytes may overlap the ones before.
        if bytes.count - index > 3, start <= lastEight, EightBytes(bytes, at: lastEight).beyondWords == 0 {
            return bytes.count
        }
        while index < bytes.count, words.contains(bytes[index]) { index &+= 1 }
        return index
    }

    private static var words: ASCIISet { ASCIISet(low: 0x03FF_6000_0000_0000, high: 0x07FF_FFFE_87FF_FFFE) }

    /// Whether a part of an array is letters, digits, dots, underscores and hyphens, if it isn't empty.
    static func isWord(_ range: Range<Int>, of bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes {
            endOfWord(in: UnsafeRawBufferPointer(rebasing: $0[range]), from: 0) == range.count
        }
    }

    /// Whether no value of a field may have a byte (RFC 9110 section 5.5).
    static func isForbidden(_ byte: UInt8) -> Bool {
        byte == carriageReturn || byte == lineFeed || byte == nul
    }

    static func hasForbiddenByte(_ value: [UInt8]) -> Bool {
        guard value.count >= 8 else { return value.contains(where: isForbidden) }
        let marks = value.withUnsafeBytes { bytes in
            // All of these bytes are below the blank, and hardly any value has others that are.
            var marks = EightBytes(bytes, at: bytes.count - 8).below(space)
            for index in stride(from: 0, to: bytes.count - 8, by: 8) {
                marks |= EightBytes(bytes, at: index).below(space)
            }
            return marks
        }
        return marks != 0 && value.contains(where: isForbidden)
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Apart from the case of ASCII letters.
    static func equalIgnoringCase(
        _ bytes: some RandomAccessCollection<UInt8>, _ other: String.UTF8View
    ) -> Bool {
        guard bytes.count == other.count else { return false }
        var index = bytes.startIndex
        for byte in other {
            if lowercased(bytes[index]) != lowercased(byte) { return false }
            bytes.formIndex(after: &index)
        }
        return true
    }

    @inline(__always)
    static func isLowercase(_ text: [UInt8], of bytes: Span<UInt8>) -> Bool {
        text.withUnsafeBytes { text in bytes.withUnsafeBytes { isLowercase(text, of: $0) } }
    }

    static func isLowercase(_ text: [UInt8], of bytes: UnsafeRawBufferPointer) -> Bool {
        text.withUnsafeBytes { isLowercase($0, of: bytes) }
    }

    @inline(__always)
    static func isLowercase(_ text: StaticString, of bytes: Span<UInt8>) -> Bool {
        bytes.withUnsafeBytes { isLowercase(text, of: $0) }
    }

    @inline(__always)
    static func isLowercase(_ text: StaticString, of bytes: UnsafeRawBufferPointer) -> Bool {
        isLowercase(
            UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), of: bytes)
    }

    /// Compares eight bytes at a time; the last eight may overlap the ones before.
    @inline(__always)
    private static func isLowercase(_ text: UnsafeRawBufferPointer, of bytes: UnsafeRawBufferPointer) -> Bool
    {
        guard bytes.count == text.count else { return false }
        guard bytes.count >= 8 else {
            if bytes.count >= 4 { return EightBytes(endsOf: bytes).lowercased == EightBytes(endsOf: text) }
            for index in 0..<bytes.count where lowercased(bytes[index]) != text[index] { return false }
            return true
        }
        var index = 0
        while index < bytes.count - 8 {
            if EightBytes(bytes, at: index).lowercased != EightBytes(text, at: index) { return false }
            index &+= 8
        }
        return EightBytes(bytes, at: bytes.count - 8).lowercased == EightBytes(text, at: bytes.count - 8)
    }

    /// The bytes without the blanks around them (RFC 9110 section 5.6.3, optional whitespace).
    static func trimmed<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes
    ) -> Bytes.SubSequence where Bytes.Index == Int {
        var lower = bytes.startIndex
        var upper = bytes.endIndex
        while lower < upper, isBlank(bytes[lower]) { lower += 1 }
        while upper > lower, isBlank(bytes[upper - 1]) { upper -= 1 }
        return bytes[lower..<upper]
    }
}

/// Eight bytes of a message as one number, the first one lowest: most bytes are passed over eight at a time.
///
/// A mark is the highest bit of a byte that was looked for. Only the lowest mark is right: a byte above it may have one
/// because the subtraction below it borrowed (Warren, "Hacker's Delight", section 6-1).
struct EightBytes: Hashable {
    let word: UInt64

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }

    @inline(__always)
    private init(_ word: UInt64) {
        self.word = word
    }

    /// The bytes from `index` on, of which there must be eight.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at index: Int) {
        word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    @inline(__always)
    init(_ bytes: RawSpan, at index: Int) {
        word = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// The first four bytes and the last four, of which there must be four to eight.
    @inline(__always)
    init(endsOf bytes: UnsafeRawBufferPointer) {
        let first = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
        let last = bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)
        word = UInt64(first) | UInt64(UInt32(littleEndian: last)) << 32
    }

    /// Marks the bytes below a bound, which is at most 128.
    @inline(__always)
    func below(_ bound: UInt8) -> UInt64 { (word &- Self.ones &* UInt64(bound)) & ~word & Self.highBits }

    @inline(__always)
    func equal(to byte: UInt8) -> UInt64 {
        EightBytes(word ^ Self.ones &* UInt64(byte)).below(1)
    }

    var beyondASCII: UInt64 { word & Self.highBits }

    /// Marks the bytes from one ASCII character to another. All of these marks are right.
    @inline(__always)
    func within(_ first: Unicode.Scalar, _ last: Unicode.Scalar) -> UInt64 {
        // The sums have their highest bit set from the first on, and beyond the last; no sum carries into the next byte.
        let low = word & ~Self.highBits
        let fromFirst = low &+ Self.ones &* UInt64(0x80 - UInt8(ascii: first))
        let beyondLast = low &+ Self.ones &* UInt64(0x7F - UInt8(ascii: last))
        return fromFirst & ~beyondLast & ~word & Self.highBits
    }

    @inline(__always)
    var lowercased: EightBytes { EightBytes(word | within("A", "Z") >> 2) }

    /// Marks the bytes that are no letter, digit, hyphen, dot or underscore. All of these marks are right.
    @inline(__always)
    var beyondWords: UInt64 {
        let letters = EightBytes(word | Self.ones &* 0x20).within("a", "z")
        return ~(letters | within("0", "9") | within("-", ".") | within("_", "_")) & Self.highBits
    }

    @inline(__always)
    var areLowercaseHex: Bool { within("0", "9") | within("a", "f") == Self.highBits }

    @inline(__always)
    var areZeros: Bool { word == Self.ones &* UInt64(ASCII.zero) }

    /// The number of bytes before the lowest mark, of which there must be one.
    @inline(__always)
    static func countBefore(_ marks: UInt64) -> Int { marks.trailingZeroBitCount &>> 3 }
}

/// A set of ASCII characters, a bit for each; looking one up takes a shift.
private struct ASCIISet {
    let low: UInt64
    let high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? low : high) &>> UInt64(byte & 63) & 1 != 0
    }
}
