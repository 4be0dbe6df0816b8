/// Percent-encoding of names and values in a query (RFC 3986, section 2.1; `+` for a space as in
/// `application/x-www-form-urlencoded`).
enum PercentEncoding {
    /// Why a text can't be decoded.
    enum Fault: Error {
        case malformedEscape, notUTF8, nul

        var detail: String {
            switch self {
            case .malformedEscape: "has a % without two hexadecimal digits behind it"
            case .notUTF8: "is not UTF-8"
            case .nul: "has a NUL character"
            }
        }
    }

    /// Whether the text is anything but its own decoding: has an escape, or must be checked to be UTF-8.
    static func isNeeded(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") || $0 >= 0x80 || $0 == 0 }
    }

    static func decode(_ text: UnsafeBufferPointer<UInt8>) throws(Fault) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexValue),
                    let low = rest.popFirst().flatMap(hexValue)
                else { throw .malformedEscape }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+"):
                decoded.append(UInt8(ascii: " "))
            default:
                decoded.append(byte)
            }
        }
        if decoded.contains(0) { throw .nul }
        guard decoded.withUnsafeBufferPointer({ $0.isUTF8 }) else { throw .notUTF8 }
        return decoded
    }

    /// Appends a text, everything but RFC 3986's unreserved characters escaped.
    static func encode(_ text: String, onto encoded: inout [UInt8]) {
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(hexDigit(byte >> 4))
                encoded.append(hexDigit(byte & 15))
            }
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }
}
