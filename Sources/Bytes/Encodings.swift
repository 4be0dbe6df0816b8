/// Two hexadecimal digits a byte (RFC 4648, section 8).
extension ByteBuffer {
    /// Appends a byte's digits.
    package mutating func appendHexadecimal(_ byte: UInt8, uppercase: Bool = false) {
        let letters = UInt8(ascii: uppercase ? "A" : "a") - 10
        for digit in [byte >> 4, byte & 15] { append(digit + (digit < 10 ? UInt8(ascii: "0") : letters)) }
    }
}

extension [UInt8] {
    /// Two lower-case hexadecimal digits a byte.
    package var hexadecimal: String {
        var text = ByteBuffer(capacity: 2 * count)
        for byte in self { text.appendHexadecimal(byte) }
        return text.text
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit of either case; nil if this is none.
    @inlinable
    @inline(__always)
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Percent-encoding of texts in a URI (RFC 3986, section 2.1).
@usableFromInline
package enum PercentEncoding {
    /// Why a text can't be decoded.
    @usableFromInline
    package enum Fault: Error {
        /// A `%` without two hexadecimal digits behind it.
        case malformedEscape
        /// Bytes that aren't UTF-8.
        case notUTF8
        /// A NUL character.
        case nul
    }

    /// Decodes a text.
    ///
    /// - Parameter plusIsSpace: whether `+` is a space, as in a query.
    /// - Throws: why it can't be decoded.
    @inlinable
    package static func decode(_ text: some Sequence<UInt8>, plusIsSpace: Bool) throws(Fault) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.underestimatedCount)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next()?.hexDigitValue, let low = rest.next()?.hexDigitValue else {
                    throw .malformedEscape
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                decoded.append(UInt8(ascii: " "))
            default:
                decoded.append(byte)
            }
        }
        if decoded.contains(0) { throw .nul }
        guard decoded.isUTF8 else { throw .notUTF8 }
        return decoded
    }
}

extension ByteBuffer {
    /// Appends a text of which everything but the unreserved characters is percent-encoded: `+` becomes `%2B`.
    package mutating func appendPercentEncoded(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            for byte in bytes {
                if byte.isUnreserved { append(byte) } else { appendPercentEncoded(byte) }
            }
        }
    }

    /// Appends a byte percent-encoded.
    package mutating func appendPercentEncoded(_ byte: UInt8) {
        append(UInt8(ascii: "%"))
        appendHexadecimal(byte, uppercase: true)
    }
}

extension UInt8 {
    /// Whether it means itself in every part of a URI (RFC 3986, section 2.3).
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }
}

extension Sequence<UInt8> {
    /// Whether the bytes are UTF-8.
    ///
    /// It stops at the first byte that isn't. Making a string from such bytes would take long, since each is replaced.
    @inlinable
    package var isUTF8: Bool {
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

/// Base64 with the alphabet for URLs, without padding (RFC 4648, section 5).
@usableFromInline
package enum Base64URL {
    /// The sixty-four digits, in the order of their values.
    @inlinable package static var alphabet: StaticString {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    }

    /// The text of some bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text = ByteBuffer(capacity: bytes.count * 4 / 3 + 4)
        text.append(bytes)
        text.encodeBase64URL(last: bytes.count)
        return text.text
    }

    /// The bytes; nil where the text is anything but what `encode` writes.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var word = UInt32(0)
        var bits = 0
        for character in text {
            guard let value = value(of: character) else { return nil }
            word = word << 6 | value
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            word &= 1 << UInt32(bits) - 1
        }
        return word == 0 ? bytes : nil
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

extension ByteBuffer {
    /// Replaces the last bytes by their Base64 for URLs.
    package mutating func encodeBase64URL(last byteCount: Int) {
        let alphabet = Base64URL.alphabet.utf8Start
        let (groups, rest) = byteCount.quotientAndRemainder(dividingBy: 3)
        removeLast(byteCount)
        withRoom(for: 4 * groups + 4) { text in
            func byte(_ index: Int) -> UInt32 { UInt32(text.load(fromByteOffset: index, as: UInt8.self)) }
            func store(_ word: UInt32, _ group: Int) {
                let end = text + 4 * group
                end.storeBytes(of: alphabet[Int(word &>> 18)], as: UInt8.self)
                end.storeBytes(of: alphabet[Int(word &>> 12 & 63)], toByteOffset: 1, as: UInt8.self)
                end.storeBytes(of: alphabet[Int(word &>> 6 & 63)], toByteOffset: 2, as: UInt8.self)
                end.storeBytes(of: alphabet[Int(word & 63)], toByteOffset: 3, as: UInt8.self)
            }
            // From the end, so that no byte is overwritten before it is read: each group of three makes four.
            if rest > 0 {
                let second = rest == 2 ? byte(3 * groups + 1) << 8 : 0
                store(byte(3 * groups) << 16 | second, groups)
            }
            var group = groups
            while group > 0 {
                group &-= 1
                let start = 3 &* group
                store(byte(start) << 16 | byte(start &+ 1) << 8 | byte(start &+ 2), group)
            }
            return (byteCount * 4 + 2) / 3
        }
    }
}
