/// The encoding of texts in western European Windows, which Excel writes.
enum Windows1252 {
    /// What the bytes 80 to 9F stand for (WHATWG Encoding, index windows-1252).
    private static let special: [UInt16] = [
        0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152,
        0x8d,
        0x017d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161,
        0x203a,
        0x0153, 0x9d, 0x017e, 0x0178,
    ]

    /// Appends a byte's character in UTF-8.
    static func append(_ byte: UInt8, to text: inout [UInt8]) {
        guard byte >= 0x80 else { return text.append(byte) }
        let code = byte < 0xa0 ? special[Int(byte) - 0x80] : UInt16(byte)
        if code >= 0x800 {
            text.append(0xe0 | UInt8(code >> 12))
            text.append(0x80 | UInt8(code >> 6 & 0x3f))
        } else {
            text.append(0xc0 | UInt8(code >> 6))
        }
        text.append(0x80 | UInt8(code & 0x3f))
    }

    /// Whether bytes are a text that isn't UTF-8; nil where all are ASCII, which is the same in both.
    ///
    /// Some damage doesn't make another encoding of UTF-8: what is wrong has to be more than what is right.
    static func isLikely(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
        var (right, wrong) = (0, 0)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte >= 0x80 else { continue }
            let length = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0
            // A character that isn't there as a whole says nothing.
            if length > 0, index + length > bytes.count { break }
            if length > 0, byte < 0xf5, bytes[index..<index + length].allSatisfy({ $0 & 0xc0 == 0x80 }) {
                right += 1
                index += length
            } else {
                wrong += 1
            }
        }
        return right + wrong == 0 ? nil : wrong > right
    }
}
