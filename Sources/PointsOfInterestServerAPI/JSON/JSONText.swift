import Bytes

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A JSON string in a document: the range of its content, without the quotes.
package struct JSONText {
    let range: Range<Int>
    /// Whether there are escapes, so that the content differs from the text.
    let isEscaped: Bool
    /// Whether every byte is ASCII.
    let isASCII: Bool

    /// The content's bytes, with the escapes.
    @inline(__always)
    func raw(in bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[range])
    }

    /// Calls a closure with the content, which is unescaped once even if it is compared several times.
    ///
    /// - Parameter limit: the maximum number of bytes.
    /// - Returns: the closure's result; nil for a longer content.
    package func withContent<Value>(
        in bytes: UnsafeBufferPointer<UInt8>, atMost limit: Int,
        _ body: (UnsafeBufferPointer<UInt8>) -> Value?
    ) -> Value? {
        let raw = raw(in: bytes)
        guard isEscaped else { return raw.count <= limit ? body(raw) : nil }
        // An escape has at most six bytes for each byte of the content.
        guard raw.count / 6 <= limit else { return nil }
        let content = unescaped(bytes[range])
        return content.count <= limit ? content.withUnsafeBufferPointer(body) : nil
    }

    /// Undoes the escapes, which the scanner has checked.
    fileprivate func unescaped(_ raw: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(raw.count)
        var rest = ArraySlice(raw)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                text.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0c)
            case UInt8(ascii: "n"): text.append(0x0a)
            case UInt8(ascii: "r"): text.append(0x0d)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"): Self.appendScalar(&rest, onto: &text)
            default: text.append(escape)
            }
        }
        return text
    }

    /// Appends the scalar of a `\u`, or of two that are a surrogate pair.
    private static func appendScalar(_ rest: inout ArraySlice<UInt8>, onto text: inout [UInt8]) {
        var unit = rest.prefix(4).hexValue ?? 0xfffd
        rest = rest.dropFirst(4)
        if unit & 0xfc00 == 0xd800, rest.starts(with: "\\u".utf8),
            let low = rest.dropFirst(2).prefix(4).hexValue, low & 0xfc00 == 0xdc00
        {
            unit = 0x10000 + (unit & 0x3ff) << 10 + low & 0x3ff
            rest = rest.dropFirst(6)
        }
        if unit < 0x80 {
            text.append(UInt8(truncatingIfNeeded: unit))
        } else {
            text.append(contentsOf: (Unicode.Scalar(unit) ?? "\u{fffd}").utf8)
        }
    }
}

// What is asked for each event gets the bytes alone: of a scanner, references would be counted.
extension JSONText {
    /// The text; malformed parts are replaced.
    package func decoded(in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let raw = raw(in: bytes)
        guard isEscaped else { return String(decoding: raw, as: UTF8.self) }
        return String(decoding: unescaped(raw), as: UTF8.self)
    }

    func isSame(as other: JSONText, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let (left, right) = (raw(in: bytes), other.raw(in: bytes))
        if !isEscaped, !other.isEscaped { return left.isSame(as: right) }
        return (isEscaped ? unescaped(left) : Array(left))
            == (other.isEscaped ? other.unescaped(right) : Array(right))
    }

    /// How many Unicode scalars it has.
    func length(in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        isASCII && !isEscaped ? range.count : decoded(in: bytes).unicodeScalars.count
    }

    /// A hash that is the same for the same string, escaped or not, with a seed that differs in each process, so that nobody can
    /// send texts which have the same.
    ///
    /// Each step multiplies, and combines both halves of the product (wyhash, https://github.com/wangyi-fudan/wyhash).
    /// `Hasher` takes ten times as long for the few bytes of a name.
    func hash(in bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let raw = raw(in: bytes)
        return isEscaped ? unescaped(raw).withUnsafeBufferPointer { $0.seededHash } : raw.seededHash
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate var seededHash: UInt64 {
        func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
            let product = (hash ^ word).multipliedFullWidth(by: HashSeed.factor)
            return product.high ^ product.low
        }
        var hash = mix(HashSeed.start, UInt64(count))
        for offset in stride(from: 0, to: count - 8, by: 8) {
            hash = mix(hash, littleEndianEight(at: offset))
        }
        return mix(hash, lastWord)
    }

    /// Whether these are the text's bytes. In another module, its callers would count references to the text.
    func isSame(as text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { isSame(as: $0) } ?? elementsEqual(text.utf8)
    }
}

private enum HashSeed {
    static let start = UInt64.random(in: .min ... .max)
    static let factor = UInt64.random(in: .min ... .max) | 1
}

extension Collection<UInt8> {
    /// The value of four hexadecimal digits; nil if these are something else.
    fileprivate var hexValue: UInt32? {
        guard count == 4 else { return nil }
        var value: UInt32 = 0
        for byte in self {
            guard let digit = byte.hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}

/// A bit of each of eight bytes that are read as one number.
private enum EachByte {
    static var ones: UInt64 { 0x0101_0101_0101_0101 }
    static var highBits: UInt64 { 0x8080_8080_8080_8080 }
}

extension JSONScanner {
    /// Reads a string (RFC 8259, section 7).
    package mutating func string() throws(SyntaxError) -> JSONText {
        guard take(UInt8(ascii: "\"")) else { throw fail("a string") }
        let start = position
        skipPlain(beyondASCII: false)
        guard next == UInt8(ascii: "\"") else { return try string(from: start) }
        defer { advance() }
        return JSONText(range: start..<position, isEscaped: false, isASCII: true)
    }

    /// Reads the rest of a string that isn't plain ASCII.
    private mutating func string(from start: Int) throws(SyntaxError) -> JSONText {
        var isEscaped = false
        var isASCII = true
        while true {
            skipPlain(beyondASCII: !isASCII)
            let byte = next
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
                try escape()
                continue
            }
            if byte < 0x20 {
                guard !isAtEnd else { throw fail("the string's end") }
                flaws.formUnion(.text)
            }
            if byte >= 0x80 { isASCII = false }
            advance()
        }
        let text = JSONText(range: start..<position, isEscaped: isEscaped, isASCII: isASCII)
        advance()
        if !isASCII, !flaws.contains(.text), !text.raw(in: bytes).isUTF8 { flaws.formUnion(.text) }
        return text
    }

    /// Skips bytes that mean themselves, eight at a time, up to one that doesn't or to the last few of the document.
    ///
    /// - Parameter beyondASCII: whether bytes beyond ASCII are skipped, too.
    @inline(__always)
    private mutating func skipPlain(beyondASCII: Bool) {
        let (ones, highBits) = (EachByte.ones, EachByte.highBits)
        var end = position
        while bytes.count - end >= 8 {
            let word = bytes.littleEndianEight(at: end)
            // Of a byte of ASCII, a subtraction sets the highest bit where the byte was less; above the first such byte
            // perhaps elsewhere, too.
            let quotes = (word ^ ones &* UInt64(UInt8(ascii: "\""))) &- ones
            let backslashes = (word ^ ones &* UInt64(UInt8(ascii: "\\"))) &- ones
            let marks = quotes | backslashes | (word &- ones &* 0x20)
            let stops = (beyondASCII ? marks & ~word : marks | word) & highBits
            guard stops == 0 else {
                end += stops.trailingZeroBitCount / 8
                break
            }
            end += 8
        }
        advance(by: end - position)
    }

    private mutating func escape() throws(SyntaxError) {
        advance()
        switch next {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            advance()
        case UInt8(ascii: "u"):
            let unit = try hexDigits()
            if unit & 0xfc00 == 0xd800 { return try lowSurrogate() }
            if unit == 0 || unit & 0xfc00 == 0xdc00 { flaws.formUnion(.text) }
        default: throw fail("an escape")
        }
    }

    /// Reads the second half of a surrogate pair; without it the first is a flaw.
    private mutating func lowSurrogate() throws(SyntaxError) {
        let isEscape =
            bytes.count - position >= 6 && bytes[position] == UInt8(ascii: "\\")
            && bytes[position + 1] == UInt8(ascii: "u")
        let low = isEscape ? bytes[(position + 2)..<(position + 6)].hexValue : nil
        guard let low, low & 0xfc00 == 0xdc00 else { return flaws.formUnion(.text) }
        advance(by: 6)
    }

    /// Reads `u` and its four digits.
    private mutating func hexDigits() throws(SyntaxError) -> UInt32 {
        advance()
        guard bytes.count - position >= 4, let unit = bytes[position..<position + 4].hexValue else {
            throw fail("four hexadecimal digits")
        }
        advance(by: 4)
        return unit
    }
}

extension UUID {
    /// How the id was made (RFC 9562, section 4.2).
    package var version: UInt8 { uuid.6 >> 4 }

    /// Reads a UUID's 36 characters (RFC 9562, section 4) of either case; nil if these are something else.
    init?(_ text: JSONText, in bytes: UnsafeBufferPointer<UInt8>) {
        guard !text.isEscaped else {
            // An escape has at most six bytes for each byte of the text.
            guard text.range.count <= 6 * 36 else { return nil }
            self.init(uuidString: text.decoded(in: bytes))
            return
        }
        guard text.range.count == 36 else { return nil }
        let characters = text.raw(in: bytes)
        func four(_ offset: Int) -> UInt64 { characters.littleEndianFour(at: offset) }
        let hyphen = UInt8(ascii: "-")
        guard characters[8] == hyphen, characters[13] == hyphen, characters[18] == hyphen,
            characters[23] == hyphen,
            let first = Self.bytes(ofDigits: four(0) | four(4) << 32),
            let second = Self.bytes(ofDigits: four(9) | four(14) << 32),
            let third = Self.bytes(ofDigits: four(19) | four(24) << 32),
            let fourth = Self.bytes(ofDigits: four(28) | four(32) << 32)
        else { return nil }
        let words = (first.littleEndian, second.littleEndian, third.littleEndian, fourth.littleEndian)
        self.init(uuid: unsafeBitCast(words, to: uuid_t.self))
    }

    /// The four bytes that eight hexadecimal digits of either case stand for, in the order of memory; nil if these are
    /// something else.
    private static func bytes(ofDigits word: UInt64) -> UInt32? {
        let (ones, highBits) = (EachByte.ones, EachByte.highBits)
        // Sums of bytes below 128 don't carry into the next byte: the highest bit says which is within a range.
        func within(_ bytes: UInt64, _ first: Unicode.Scalar, _ last: Unicode.Scalar) -> UInt64 {
            let fromFirst = bytes &+ ones &* UInt64(0x80 - UInt8(ascii: first))
            let beyondLast = bytes &+ ones &* UInt64(0x7F - UInt8(ascii: last))
            return fromFirst & ~beyondLast & highBits
        }
        guard word & highBits == 0,
            within(word, "0", "9") | within(word | ones &* 0x20, "a", "f") == highBits
        else { return nil }
        // A letter's lowest four bits are 9 less than its value, and its bit 6 is set.
        let digits = word & (ones &* 0x0F) &+ (word >> 6 & ones) &* 9
        let pairs = (digits << 4 | digits >> 8) & 0x00FF_00FF_00FF_00FF
        let twos = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: twos | twos >> 16)
    }
}
