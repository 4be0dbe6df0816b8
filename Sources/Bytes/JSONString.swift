extension ByteBuffer {
    /// Appends the content of a JSON string (RFC 8259, section 7): only quotes, backslashes and control
    /// characters are escaped.
    @usableFromInline
    package mutating func appendEscaped(_ string: String) {
        var string = string
        string.withUTF8 { appendEscaped($0) }
    }

    /// Appends the content of a JSON string that is given as UTF-8.
    @usableFromInline
    package mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
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
            appendHexadecimal(character)
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
    /// Whether there is a byte that needs an escape in a JSON string; looks at sixteen bytes at a time.
    package var needsEscape: Bool {
        let bytes = UnsafeRawBufferPointer(self)
        var rest = bytes.count
        var offset = 0
        while rest >= 16 {
            if bytes.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self).needsEscape {
                return true
            }
            offset += 16
            rest -= 16
        }
        guard rest > 0 else { return false }
        // Fewer than sixteen bytes are left. They are looked at together with bytes before them, or with blanks.
        if bytes.count >= 16 {
            return bytes.loadUnaligned(fromByteOffset: bytes.count - 16, as: SIMD16<UInt8>.self).needsEscape
        }
        var last = SIMD16<UInt8>(repeating: UInt8(ascii: " "))
        withUnsafeMutableBytes(of: &last) { $0.copyMemory(from: bytes) }
        return last.needsEscape
    }
}

extension SIMD16<UInt8> {
    @inline(__always)
    fileprivate var needsEscape: Bool {
        let needing =
            (self .< SIMD16(repeating: 0x20))
            .| (self .== SIMD16(repeating: UInt8(ascii: "\"")))
            .| (self .== SIMD16(repeating: UInt8(ascii: "\\")))
        // `any` of a mask compiles to a loop over its lanes.
        let words = unsafeBitCast(needing, to: SIMD2<UInt64>.self)
        return words[0] | words[1] != 0
    }
}
