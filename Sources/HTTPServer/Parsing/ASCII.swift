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
    static let underscore: UInt8 = 0x5F
    static let delete: UInt8 = 0x7F

    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool { isDigit(byte) || isLetter(byte) }

    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// Whether a byte may be part of a token: a method or a field name.
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

    /// The value of a hexadecimal digit, in upper or lower case.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Whether bytes are equal to a text, apart from the case of ASCII letters.
    static func equalIgnoringCase(_ bytes: Slice<UnsafeRawBufferPointer>, _ other: String.UTF8View) -> Bool {
        guard bytes.count == other.count else { return false }
        var index = bytes.startIndex
        for byte in other {
            if lowercased(bytes[index]) != lowercased(byte) { return false }
            index += 1
        }
        return true
    }

    /// Whether bytes are a text in lower case, apart from the case of ASCII letters.
    @inline(__always)
    static func isLowercase(_ text: [UInt8], of bytes: UnsafeRawBufferPointer) -> Bool {
        text.withUnsafeBytes { isLowercase($0, of: bytes) }
    }

    /// Whether bytes are a text in lower case, apart from the case of ASCII letters.
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
    static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var lower = bytes.startIndex
        var upper = bytes.endIndex
        while lower < upper, isBlank(bytes[lower]) { lower += 1 }
        while upper > lower, isBlank(bytes[upper - 1]) { upper -= 1 }
        return bytes[lower..<upper]
    }

    /// The bytes without the blanks around them.
    static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: trimmed(bytes[...]))
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

    /// Marks the bytes that are this one.
    @inline(__always)
    func equal(to byte: UInt8) -> UInt64 {
        EightBytes(word ^ Self.ones &* UInt64(byte)).below(1)
    }

    /// Marks the bytes that aren't ASCII.
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

    /// The bytes with ASCII letters in lower case.
    @inline(__always)
    var lowercased: EightBytes { EightBytes(word | within("A", "Z") >> 2) }

    /// Marks the bytes that are no letter, digit, hyphen, dot or underscore. All of these marks are right.
    @inline(__always)
    var beyondWords: UInt64 {
        let letters = EightBytes(word | Self.ones &* 0x20).within("a", "z")
        return ~(letters | within("0", "9") | within("-", ".") | within("_", "_")) & Self.highBits
    }

    /// Whether all bytes are hexadecimal digits in lower case.
    @inline(__always)
    var areLowercaseHex: Bool { within("0", "9") | within("a", "f") == Self.highBits }

    /// Whether all bytes are the digit 0.
    @inline(__always)
    var areZeros: Bool { word == Self.ones &* UInt64(ASCII.zero) }

    /// Stores the bytes.
    @inline(__always)
    func store(at memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: word.littleEndian, as: UInt64.self)
    }

    /// The number of bytes before the lowest mark, of which there must be one.
    @inline(__always)
    static func countBefore(_ marks: UInt64) -> Int { marks.trailingZeroBitCount &>> 3 }
}

/// A set of ASCII characters, a bit for each; looking one up takes a shift.
private struct ASCIISet {
    /// The characters 0…63, and those from 64 on.
    let low: UInt64
    let high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? low : high) &>> UInt64(byte & 63) & 1 != 0
    }
}

/// Percent-encoding of parts of a URI (RFC 3986 section 2.1).
enum PercentDecoding {
    /// The byte that `%` and two hexadecimal digits at `index` stand for; nil if there are no two digits.
    static func byte(at index: Int, of bytes: Slice<UnsafeRawBufferPointer>) -> UInt8? {
        guard bytes.endIndex - index > 2, let high = ASCII.hexValue(bytes[index + 1]),
            let low = ASCII.hexValue(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    /// Decodes a text; nil if a `%` isn't followed by two hexadecimal digits, or the result isn't UTF-8 or has a NUL.
    static func decode(_ bytes: Slice<UnsafeRawBufferPointer>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == ASCII.percent {
                guard let byte = byte(at: index, of: bytes), byte != 0 else { return nil }
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
