/// The form of language tags (RFC 5646).
package enum LanguageTag {
    /// Section 4.4.1 asks readers for no longer ones.
    package static let maximumBytes = 35

    /// Whether these bytes are a tag, known or not: two to eight letters, then subtags of one to eight letters and digits with a
    /// hyphen before each.
    package static func isWellFormed(_ tag: some Collection<UInt8>) -> Bool {
        guard tag.count <= maximumBytes else { return false }
        var (isFirst, length) = (true, 0)
        for byte in tag {
            switch byte {
            case UInt8(ascii: "-") where length >= (isFirst ? 2 : 1):
                (isFirst, length) = (false, 0)
                continue
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): break
            case UInt8(ascii: "0")...UInt8(ascii: "9") where !isFirst: break
            default: return false
            }
            length += 1
            if length > 8 { return false }
        }
        return length >= (isFirst ? 2 : 1)
    }
}
