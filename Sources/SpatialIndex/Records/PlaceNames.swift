import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// The names of a place besides the one that is shown without a language, as a record keeps them, so that one is found without
/// reading the others.
/// It is the number of bytes of the record's member `name`, the number of names in languages, that of all names, for each where its tag and where its text begins (two bytes each), and then a tag and a text each. Names in
/// languages are in the order of their tags in lower case; those that are only searched follow, with empty tags. Texts are as in
/// JSON between quotes; only what has to be is escaped.
struct PlaceNames {
    private static let (headerSize, entrySize) = (6, 4)

    private let bytes: UnsafeRawBufferPointer
    private let languageCount: Int
    private let count: Int

    /// Reads what `encode` has made; nil where there is nothing.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
        languageCount = Int(bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        count = Int(bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
    }

    /// How many bytes of the record are the member `name`.
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

    /// The names in languages, by the tags in lower case.
    var textsInLanguages: some Sequence<UnsafeRawBufferPointer> {
        (0..<languageCount).lazy.map { entry($0).text }
    }

    /// Calls `body` with the tag and the text of each name in a language.
    func forEachInLanguage(_ body: (_ tag: UnsafeRawBufferPointer, _ text: UnsafeRawBufferPointer) -> Void) {
        for index in 0..<languageCount { body(entry(index).tag, entry(index).text) }
    }

    /// Calls `body` with the text of each name that is only searched.
    func forEachSearched(_ body: (UnsafeRawBufferPointer) -> Void) {
        for index in languageCount..<count { body(entry(index).text) }
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

    /// Packs the names of a place; empty where there are none. Nil where those in languages aren't JSON of an object of texts by
    /// different tags, or all are longer than any table allows.
    static func encode(_ place: PlaceFields, memberCount: Int) -> [UInt8]? {
        guard var entries = place.names.map(entriesInLanguages) ?? [] else { return nil }
        let languageCount = entries.count
        entries += place.otherNamesList.map { ([], [], PlaceProperties.escaped($0)) }
        guard !entries.isEmpty else { return [] }
        var numbers = [memberCount, languageCount, entries.count]
        var end = headerSize + entries.count * entrySize
        for entry in entries {
            numbers += [end, end + entry.tag.count]
            end += entry.tag.count + entry.text.count
        }
        guard end <= UInt16.max, memberCount <= UInt16.max else { return nil }
        return PlaceProperties.bytes(of: numbers) + entries.flatMap { $0.tag + $0.text }
    }

    private typealias Entry = (order: [UInt8], tag: [UInt8], text: [UInt8])

    /// The names in languages, in order; nil where it isn't JSON of an object of texts by tags.
    private static func entriesInLanguages(_ text: PlaceFields.Text) -> [Entry]? {
        var entries: [Entry] = []
        let isJSON = JSONScanner.readsAll(of: text, without: .all) {
            (scanner) throws(JSONScanner.SyntaxError) in
            try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
                let tag = PlaceProperties.escaped(name, in: scanner)
                let text = PlaceProperties.escaped(try scanner.string(), in: scanner)
                entries.append((tag.asciiLowercased, tag, text))
            }
        }
        guard isJSON, entries.allSatisfy({ LanguageTag.isWellFormed($0.tag) }) else { return nil }
        entries.sort { $0.order.lexicographicallyPrecedes($1.order) }
        let isRepeated = zip(entries, entries.dropFirst()).contains { $0.order == $1.order }
        return isRepeated ? nil : entries
    }
}
