import Bytes
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Which of a place's properties are written.
package enum PropertySelection: Hashable, Sendable {
    case none
    case all
    /// Those with these names, which are escaped, in the order of their bytes.
    case named([[UInt8]])

    /// Whether none is written.
    @inline(__always)
    package var isNone: Bool {
        if case .none = self { true } else { false }
    }

    /// Those with these names, each once, since what is written has room for no more; without any, none.
    package init(names: [String]) {
        self =
            names.isEmpty ? .none : .named(names.uniqueInByteOrder.map { PlaceProperties.escaped($0.utf8) })
    }
}

/// What of a place is written besides the members that all places have, and in which languages its name is looked up.
package struct PlaceSelection: Hashable, Sendable {
    package let properties: PropertySelection
    package let languages: LanguageLookup
    /// Whether an item has the members `version` and `updatedAt`.
    package let showsLastChange: Bool

    static let nothing = PlaceSelection()

    private init() {
        properties = .none
        languages = LanguageLookup([])
        showsLastChange = false
    }

    /// Nil where nothing is selected.
    package init?(
        _ properties: PropertySelection, languages: [String] = [], showsLastChange: Bool = false
    ) {
        if properties.isNone, languages.isEmpty, !showsLastChange { return nil }
        self.properties = properties
        self.languages = LanguageLookup(languages)
        self.showsLastChange = showsLastChange
    }

    /// Selects what a request names; nil where it names nothing.
    @inline(__always)
    package init?(_ content: borrowing PlaceContent) {
        if content.isEmpty { return nil }
        self.init(PropertySelection(names: content.properties), languages: content.languages)
    }
}

/// The properties of a place as a record keeps them, so that a member is found without reading the others.
///
/// It is the number of members (two bytes), for each member where its name begins and ends, and where the member itself ends
/// (two bytes each, in the order of the names' bytes), and then the object's JSON without blanks. Names are written in one
/// way: only what has to be is escaped.
struct PlaceProperties {
    private static let entrySize = 6

    private let bytes: UnsafeRawBufferPointer
    private let count: Int

    /// Reads what `encode` has made; nil where there is nothing.
    @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
        count = Int(bytes.loadUnaligned(as: UInt16.self))
    }

    /// The object's JSON.
    var json: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[(2 + count * Self.entrySize)...])
    }

    /// The member with a name, which is escaped: its name, a colon and its value; nil where there is none.
    func member(named name: [UInt8]) -> UnsafeRawBufferPointer? {
        let json = json
        let index = name.withUnsafeBufferPointer { name in
            (0..<count).index(by: { index in
                let (start, nameEnd, _) = entry(index)
                let other = UnsafeRawBufferPointer(rebasing: json[(start + 1)..<nameEnd])
                return other.assumingMemoryBound(to: UInt8.self).compared(with: name)
            })
        }
        guard let index else { return nil }
        let (start, _, end) = entry(index)
        return UnsafeRawBufferPointer(rebasing: json[start..<end])
    }

    private func entry(_ index: Int) -> (start: Int, nameEnd: Int, end: Int) {
        let offset = 2 + index * Self.entrySize
        func number(_ index: Int) -> Int {
            Int(bytes.loadUnaligned(fromByteOffset: offset + 2 * index, as: UInt16.self))
        }
        return (number(0), number(1), number(2))
    }

    /// Packs the properties of a place, JSON of an object; nil where it isn't JSON, or longer than any table allows.
    static func encode(_ text: PlaceFields.Text) -> [UInt8]? {
        var json: [UInt8] = [UInt8(ascii: "{")]
        var entries: [(start: Int, nameEnd: Int, end: Int)] = []
        // Some readers of JSON refuse all of a response with such a text or number in it.
        let isJSON = JSONScanner.readsAll(of: text, without: [.text, .number]) {
            (scanner) throws(JSONScanner.SyntaxError) in
            try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
                if !entries.isEmpty { json.append(UInt8(ascii: ",")) }
                let start = json.count
                json.append(UInt8(ascii: "\""))
                json += escaped(name, in: scanner)
                let nameEnd = json.count
                json += [UInt8(ascii: "\""), UInt8(ascii: ":")]
                let valueStart = scanner.position
                try scanner.skipValue()
                appendWithoutBlanks(scanner.bytes[valueStart..<scanner.position], to: &json)
                entries.append((start, nameEnd, json.count))
            }
        }
        json.append(UInt8(ascii: "}"))
        guard isJSON, json.count <= UInt16.max else { return nil }
        entries.sort {
            json[($0.start + 1)..<$0.nameEnd].lexicographicallyPrecedes(json[($1.start + 1)..<$1.nameEnd])
        }
        return bytes(of: [entries.count] + entries.flatMap { [$0.start, $0.nameEnd, $0.end] }) + json
    }

    /// Numbers below 65,536, two bytes each.
    static func bytes(of numbers: [Int]) -> [UInt8] {
        numbers.map { UInt16($0) }.withUnsafeBytes { Array($0) }
    }

    /// A string of a document as JSON has it between quotes.
    static func escaped(_ text: JSONText, in scanner: JSONScanner) -> [UInt8] {
        text.withContent(in: scanner.bytes, atMost: .max) { escaped($0) } ?? []
    }

    /// UTF-8 as JSON has it between quotes; only what has to be is escaped.
    static func escaped(_ text: some Collection<UInt8>) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 2 * text.count)
        Array(text).withUnsafeBufferPointer { buffer.appendEscaped($0) }
        return buffer.bytes
    }

    /// Appends a value of JSON without the blanks that are between its tokens.
    private static func appendWithoutBlanks(
        _ value: Slice<UnsafeBufferPointer<UInt8>>, to json: inout [UInt8]
    ) {
        var (isText, isEscaped) = (false, false)
        for byte in value {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
            } else if byte == UInt8(ascii: "\"") {
                isText = true
            } else if byte <= UInt8(ascii: " ") {
                continue
            }
            json.append(byte)
        }
    }
}

extension JSONScanner {
    static func readsAll(
        of text: PlaceFields.Text, without flaws: JSONFlaws,
        _ body: (inout JSONScanner) throws(SyntaxError) -> Void
    ) -> Bool {
        text.withUnsafeBufferPointer { text in
            var scanner = JSONScanner(text)
            do throws(SyntaxError) { try body(&scanner) } catch { return false }
            return scanner.isAtEnd && scanner.flaws.isDisjoint(with: flaws)
        }
    }
}
