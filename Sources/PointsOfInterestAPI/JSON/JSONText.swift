/// A JSON string as it stands in a document: where its content is, its quotes left out.
struct JSONText {
    let range: Range<Int>
    /// Whether there are escapes, so that the content isn't the text.
    let isEscaped: Bool
    /// Whether every byte is ASCII.
    let isASCII: Bool

    /// The content's bytes, escapes and all.
    func raw(in bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[range])
    }

    /// The text; what was flawed about it is replaced.
    func decoded(in bytes: UnsafeBufferPointer<UInt8>) -> String {
        guard isEscaped else { return String(decoding: raw(in: bytes), as: UTF8.self) }
        return String(decoding: unescaped(raw(in: bytes)), as: UTF8.self)
    }

    /// Whether the text is that one.
    func equals(_ text: String, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !isEscaped else { return decoded(in: bytes).utf8.elementsEqual(text.utf8) }
        let raw = raw(in: bytes)
        return text.utf8.withContiguousStorageIfAvailable { raw.isSame(as: $0) }
            ?? raw.elementsEqual(text.utf8)
    }

    /// Whether two texts of a document are the same.
    func isSame(as other: JSONText, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if !isEscaped, !other.isEscaped { return raw(in: bytes).isSame(as: other.raw(in: bytes)) }
        return decoded(in: bytes).utf8.elementsEqual(other.decoded(in: bytes).utf8)
    }

    /// How many Unicode scalars the text has.
    func length(in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        isASCII && !isEscaped ? range.count : decoded(in: bytes).unicodeScalars.count
    }

    /// The scanner has seen that the escapes are whole.
    private func unescaped(_ raw: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(raw.count)
        var rest = raw[...]
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
            case UInt8(ascii: "u"): text.append(contentsOf: Self.scalar(&rest).utf8)
            default: text.append(escape)
            }
        }
        return text
    }

    /// The scalar of a `\u`, or of two where they are a surrogate pair.
    private static func scalar(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> String {
        var unit = rest.prefix(4).hexValue ?? 0xfffd
        rest = rest.dropFirst(4)
        if unit & 0xfc00 == 0xd800, rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]),
            let low = rest.dropFirst(2).prefix(4).hexValue, low & 0xfc00 == 0xdc00
        {
            unit = 0x10000 + (unit & 0x3ff) << 10 + low & 0x3ff
            rest = rest.dropFirst(6)
        }
        return String(Character(Unicode.Scalar(unit) ?? "\u{fffd}"))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these are the same bytes.
    @inline(__always)
    func isSame(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        count == other.count && elementsEqual(other)
    }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// The value of four hexadecimal digits; nil if these are something else.
    var hexValue: UInt32? {
        guard count == 4 else { return nil }
        var value: UInt32 = 0
        for byte in self {
            guard let digit = byte.hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit of either case; nil if this is none.
    @inline(__always)
    var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
