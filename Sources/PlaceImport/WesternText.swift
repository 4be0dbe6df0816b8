/// Texts without a name of their encoding, which aren't UTF-8: those of western European Windows (Windows-1252), which
/// Excel writes, and those that would only look like them.
enum WesternText {
    static let encoding = "Windows-1252"

    /// Whether bytes are a text that isn't UTF-8; nil where all are ASCII, which is the same in both. Some damage doesn't
    /// make another encoding of UTF-8: what is wrong has to be more than what is right.
    static func isLikely(_ bytes: ArraySlice<UInt8>) -> Bool? {
        var (right, wrong) = (0, 0)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            guard byte >= 0x80 else { continue }
            let length = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0
            // A character that isn't there as a whole says nothing.
            if length > 0, index + length > bytes.endIndex { break }
            if length > 0, byte < 0xf5, bytes[index..<index + length].allSatisfy({ $0 & 0xc0 == 0x80 }) {
                right += 1
                index += length
            } else {
                wrong += 1
            }
        }
        return right + wrong == 0 ? nil : wrong > right
    }

    /// A word that no western European language has, as it would be read; nil where there is none. It has characters that
    /// aren't in the encoding, signs between letters, three different ones beyond ASCII in a row, or such as no language
    /// has together.
    static func doubtfulWord(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var start = bytes.startIndex
        while let first = bytes[start...].firstIndex(where: { $0 >= 0x80 }) {
            let begin = bytes[start..<first].lastIndex { !isOfWord($0) }.map { $0 + 1 } ?? start
            let end = bytes[first...].firstIndex { !isOfWord($0) } ?? bytes.endIndex
            if isDoubtful(bytes[begin..<end]) { return bytes[begin..<end] }
            start = end
        }
        return nil
    }

    private static func isOfWord(_ byte: UInt8) -> Bool { byte >= 0x80 || PositionText.isLetter(byte) }

    private static func isDoubtful(_ word: ArraySlice<UInt8>) -> Bool {
        word.split { joining.contains($0) }.contains { part in
            let part = part.drop { $0 == 0xa1 || $0 == 0xbf }
            if part.contains(where: undefined.contains) { return true }
            let signs = part.indices.filter { part[$0] >= 0x80 && !isLetter(part[$0]) }
            // A sign may be behind a letter, such as that of a trade mark or of a square, and not between two.
            let isInside = signs.contains { sign in
                guard sign + 1 < part.endIndex, isLetter(part[sign + 1]) else { return false }
                return sign > part.startIndex && isLetter(part[sign - 1])
                    || part[sign] != 0xb0 && isLowercase(part[sign + 1])
            }
            if isInside { return true }
            let others = part.filter { $0 >= 0x80 && isLetter($0) }
            // Three accented letters in a row are of one kind, if any: Estonian has jäääär.
            if part.split(whereSeparator: { $0 < 0x80 }).contains(where: { Set($0).count >= 3 }) {
                return true
            }
            // Icelandic's letters are Turkish ones in Windows-1254.
            if others.contains(where: turkish.contains) { return true }
            // Danish and Norwegian have no such accents; Czech has these bytes.
            return others.contains { $0 | 0x20 == 0xf8 } && others.contains { czech.contains($0 | 0x20) }
        }
    }

    /// Signs that stand within words: quotation marks, dashes, the ellipsis, the apostrophe that is an accent, the middle dot, the
    /// no-break space, and the hyphen that isn't seen.
    private static let joining: Set<UInt8> = [
        0x82, 0x84, 0x85, 0x8b, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x9b, 0xa0, 0xab, 0xad, 0xb4, 0xb7,
        0xbb,
    ]
    private static let undefined: Set<UInt8> = [0x81, 0x8d, 0x8f, 0x90, 0x9d]
    private static let turkish: Set<UInt8> = [0xd0, 0xdd, 0xde, 0xf0, 0xfd, 0xfe]
    private static let czech: Set<UInt8> = [0xe8, 0xec, 0xed, 0xf9, 0xfd, 0xf2]

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x83, 0x8a, 0x8c, 0x8e, 0x9a, 0x9c, 0x9e, 0x9f, 0xaa, 0xb5, 0xba: true
        case 0xd7, 0xf7: false
        default: byte >= 0xc0 || PositionText.isLetter(byte)
        }
    }

    private static func isLowercase(_ byte: UInt8) -> Bool {
        byte >= 0xdf && byte != 0xf7 || byte &- UInt8(ascii: "a") < 26 || [0x9a, 0x9c, 0x9e].contains(byte)
    }

    /// The encodings in which the bytes may be what people mean.
    static func guess(_ bytes: ArraySlice<UInt8>) -> String {
        let sample = Array(bytes.prefix(1 << 16))
        let high = sample.filter { $0 >= 0x80 }
        /// Which part of the bytes beyond ASCII begins or ends a pair.
        func share(_ isFirst: (UInt8) -> Bool, _ isSecond: (UInt8) -> Bool) -> Double {
            var (index, count) = (0, 0)
            while index < sample.count {
                defer { index += 1 }
                guard isFirst(sample[index]), index + 1 < sample.count, isSecond(sample[index + 1]) else {
                    continue
                }
                count += sample[index + 1] >= 0x80 ? 2 : 1
                index += 1
            }
            return Double(count) / Double(max(1, high.count))
        }
        let isHigh: (UInt8) -> Bool = { (0xa1...0xfe).contains($0) }
        let isJapanese = share(
            { (0x81...0x9f).contains($0) || (0xe0...0xea).contains($0) }, { $0 >= 0x40 && $0 != 0x7f })
        if isJapanese > 0.9, high.filter({ (0x81...0x9f).contains($0) }).count * 4 > high.count {
            return "Shift_JIS"
        }
        if share({ $0 == 0xa4 || $0 == 0xa5 }, isHigh) > 0.3 { return "EUC-JP" }
        if share({ (0xb0...0xc8).contains($0) }, isHigh) > 0.9 { return "EUC-KR or GB18030" }
        if share({ (0xb0...0xd7).contains($0) }, isHigh) > 0.9 { return "GB18030" }
        if share({ (0xa4...0xc6).contains($0) }, { isHigh($0) || (0x40...0x7e).contains($0) }) > 0.9 {
            return "Big5"
        }
        let words = sample.split { $0 < 0x80 }
        if high.filter({ $0 >= 0xc0 }).count * 10 > high.count * 9, words.contains(where: { $0.count >= 3 }) {
            return "Windows-1251"
        }
        let isPolish = high.contains { [0x9d, 0x9f, 0xa3, 0xa5, 0xaf, 0xb3, 0xb9, 0xbf].contains($0) }
        return high.contains(where: turkish.contains) && !isPolish ? "Windows-1254" : "Windows-1250"
    }
}
