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

/// The languages of a request, as a place's names are looked up in them (RFC 4647, section 3.4).
package struct LanguageLookup: Hashable, Sendable {
    /// The tags to look for, one after the other, in lower case and each once: those of the request, each followed by what is left
    /// of it while its last subtags are removed.
    let tags: [[UInt8]]

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

/// The names of a place besides the one that is shown without a language, as a record keeps them, so that one is found without
/// reading the others.
///
/// It is the number of bytes of the record's member `name` with the comma before it, the number of names in languages, that of
/// all names, for each where its tag and where its text begins (two bytes each), and then a tag and a text each. Names in
/// languages are in the order of their tags in lower case; those that are only searched follow, with empty tags. Texts are as in
/// JSON between quotes; only what has to be is escaped.
struct PlaceNames {
    private static let (headerSize, entrySize) = (6, 4)

    private let bytes: UnsafeRawBufferPointer
    private let languageCount: Int
    private let count: Int

    /// Reads what `append` has written; nil where there is nothing.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
        languageCount = Int(bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        count = Int(bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
    }

    /// How many bytes of the record are the member `name`, with the comma before it.
    var memberCount: Int { Int(bytes.loadUnaligned(as: UInt16.self)) }

    /// The name in the first of the languages that there is one in, and its tag; nil where there is none.
    func name(in languages: LanguageLookup) -> (text: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer)? {
        index(in: languages).map(entry)
    }

    /// The number of the name in the first of the languages that there is one in; nil where there is none.
    func index(in languages: LanguageLookup) -> Int? {
        for tag in languages.tags {
            let index = (0..<languageCount).index(by: { Self.compare(entry($0).tag, tag) })
            if let index { return index }
        }
        return nil
    }

    /// The text of a name by its number; nil where there is no such name.
    func text(_ index: Int) -> UnsafeRawBufferPointer? {
        index >= 0 && index < count ? entry(index).text : nil
    }

    /// Calls `body` with each name in a language, by the tags in lower case.
    func forEachInLanguage(_ body: (UnsafeRawBufferPointer) -> Void) {
        for index in 0..<languageCount { body(entry(index).text) }
    }

    private func entry(_ index: Int) -> (text: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer) {
        func number(_ index: Int) -> Int {
            Int(bytes.loadUnaligned(fromByteOffset: Self.headerSize + 2 * index, as: UInt16.self))
        }
        let (tag, text) = (number(2 * index), number(2 * index + 1))
        let end = index + 1 < count ? number(2 * index + 2) : bytes.count
        return (
            UnsafeRawBufferPointer(rebasing: bytes[text..<end]),
            UnsafeRawBufferPointer(rebasing: bytes[tag..<text])
        )
    }

    /// Compares a tag with one in lower case; less than 0 where it comes first. Of letters, digits and hyphens the bit makes lower
    /// case.
    private static func compare(_ tag: UnsafeRawBufferPointer, _ other: [UInt8]) -> Int {
        for index in 0..<min(tag.count, other.count) {
            let difference = Int(tag[index] | 0x20) - Int(other[index])
            if difference != 0 { return difference }
        }
        return tag.count - other.count
    }

    /// Appends the names of a place; nothing where there are none.
    ///
    /// - Parameters:
    ///   - names: JSON of an object of texts; nil without any in languages.
    ///   - otherNames: as `PlaceFields` has them.
    ///   - memberCount: as it comes out again.
    /// - Returns: false, and nothing that can be used is appended, where it isn't such JSON, a name of it is no tag or occurs twice,
    ///   or they are longer than any table allows.
    static func append(
        _ names: PlaceFields.Text?, _ otherNames: PlaceFields.Text?, memberCount: Int, to bytes: inout [UInt8]
    ) -> Bool {
        guard var entries = names.map(entriesInLanguages) ?? [] else { return false }
        let languageCount = entries.count
        for name in otherNames?.split(separator: PlaceFields.betweenOtherNames) ?? [] {
            entries.append(([], [], escaped(UnsafeBufferPointer(rebasing: name))))
        }
        guard !entries.isEmpty else { return true }
        var numbers = [memberCount, languageCount, entries.count]
        var end = headerSize + entries.count * entrySize
        for entry in entries {
            numbers += [end, end + entry.tag.count]
            end += entry.tag.count + entry.text.count
        }
        guard end <= UInt16.max, memberCount <= UInt16.max else { return false }
        for number in numbers { withUnsafeBytes(of: UInt16(number)) { bytes.append(contentsOf: $0) } }
        for entry in entries { bytes += entry.tag + entry.text }
        return true
    }

    /// A text as in JSON between quotes.
    private static func escaped(_ text: PlaceFields.Text) -> [UInt8] {
        var writer = JSONWriter(capacity: text.count + 2)
        writer.value(utf8: text)
        return Array(writer.bytes.dropFirst().dropLast())
    }

    private typealias Entry = (order: [UInt8], tag: [UInt8], text: [UInt8])

    /// The names in languages, in order; nil where it isn't JSON of an object of texts by tags.
    private static func entriesInLanguages(_ text: PlaceFields.Text) -> [Entry]? {
        var scanner = JSONScanner(text)
        var entries: [Entry] = []
        do throws(JSONScanner.SyntaxError) {
            try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
                let tag = name.written(in: text)
                entries.append((tag.asciiLowercased, tag, try scanner.string().written(in: text)))
            }
        } catch {
            return nil
        }
        guard scanner.isAtEnd, scanner.flaws.isEmpty, entries.allSatisfy({ LanguageTag.isWellFormed($0.tag) })
        else { return nil }
        entries.sort { $0.order.lexicographicallyPrecedes($1.order) }
        let isRepeated = zip(entries, entries.dropFirst()).contains { $0.order == $1.order }
        return isRepeated ? nil : entries
    }
}
