import PointsOfInterestAPI

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

/// The languages of a request, as names and labels are looked up in them (RFC 4647, section 3.4).
package struct LanguageLookup: Hashable, Sendable {
    /// The tags to look for, one after the other, in lower case and each once: those of the request, each followed by what is left
    /// of it while its last subtags are removed.
    package let tags: [[UInt8]]

    /// Makes the tags for well-formed ones, the preferred one first. A subtag of one character is removed with the one behind it.
    package init(_ languages: [String]) {
        var tags: [[UInt8]] = []
        for language in languages {
            var subtags = language.utf8.asciiLowercased.split(separator: UInt8(ascii: "-"))
            while !subtags.isEmpty {
                let tag = Array(subtags.joined(separator: [UInt8(ascii: "-")]))
                if !tags.contains(tag) { tags.append(tag) }
                subtags.removeLast()
                while subtags.last?.count == 1 { subtags.removeLast() }
            }
        }
        self.tags = tags
    }
}
