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
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default:
            isLetterOrDigit(byte)
        }
    }

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

    /// The bytes without the blanks around them (RFC 9110 section 5.6.3, optional whitespace).
    static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var lower = bytes.startIndex
        var upper = bytes.endIndex
        while lower < upper, isBlank(bytes[lower]) { lower += 1 }
        while upper > lower, isBlank(bytes[upper - 1]) { upper -= 1 }
        return bytes[lower..<upper]
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
