extension ByteBuffer {
    /// Appends the content of a JSON string (RFC 8259, section 7): only quotes, backslashes and control
    /// characters are escaped.
    mutating func appendEscaped(_ string: String) {
        var string = string
        string.withUTF8 { appendEscaped($0) }
    }

    /// Appends the content of a JSON string that is given as UTF-8.
    mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.needsEscape else { return append(UnsafeRawBufferPointer(text)) }
        for byte in text {
            if byte.needsEscape { appendEscape(byte) } else { append(byte) }
        }
    }

    private mutating func appendEscape(_ character: UInt8) {
        switch character {
        case UInt8(ascii: "\n"): append("\\n")
        case UInt8(ascii: "\r"): append("\\r")
        case UInt8(ascii: "\t"): append("\\t")
        case 0..<0x20:
            append("\\u00")
            append(UInt8(ascii: character < 0x10 ? "0" : "1"))
            append("0123456789abcdef".utf8.dropFirst(Int(character & 15)).first ?? 0)
        default:
            append(UInt8(ascii: "\\"))
            append(character)
        }
    }
}

extension UInt8 {
    fileprivate var needsEscape: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether there may be a byte that needs an escape; looks at eight bytes at a time.
    ///
    /// It can take a byte for one that isn't, never the other way round. Source: S. E. Anderson, "Bit
    /// Twiddling Hacks", "Determine if a word has a byte less than n".
    fileprivate var needsEscape: Bool {
        let bytes = UnsafeRawBufferPointer(self)
        let ones: UInt64 = 0x0101_0101_0101_0101
        var found: UInt64 = 0
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            found |= (word &- ones &* 0x20) & ~word
            found |= (quotes &- ones) & ~quotes
            found |= (backslashes &- ones) & ~backslashes
            offset += 8
        }
        if found & (ones << 7) != 0 { return true }
        while offset < bytes.count {
            if bytes[offset].needsEscape { return true }
            offset += 1
        }
        return false
    }
}
