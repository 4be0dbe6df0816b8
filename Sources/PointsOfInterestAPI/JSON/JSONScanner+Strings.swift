extension JSONScanner {
    /// Reads a string (RFC 8259, section 7).
    mutating func string() throws(SyntaxError) -> JSONText {
        guard take(UInt8(ascii: "\"")) else { throw fail("a string") }
        let start = position
        var isEscaped = false
        var isASCII = true
        while true {
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

    /// What follows the first half of a surrogate pair: the second, or the first stands alone.
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

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are UTF-8.
    ///
    /// Stops at the first that isn't: to make a string of such bytes takes long, since each is replaced.
    var isUTF8: Bool {
        var bytes = makeIterator()
        var decoder = UTF8()
        while true {
            switch decoder.decode(&bytes) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}
