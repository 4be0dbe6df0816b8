import Bytes
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// The fields of a row that the mapping uses, with the text of the file but without its quoting. Filled anew for each row.
struct Row {
    /// A place's position, if the format itself has one.
    enum Position {
        case inFields
        case known(latitude: Double, longitude: Double)
        case rejected(RejectionReason)
    }

    var line = 1
    var position = Position.inFields
    /// Whether an object has no text and no number in any of its members, be they used or not.
    var isBlank = true
    private var text: [UInt8] = []
    private var fields: [Range<Int>]
    /// Whether the text of a field is a value of JSON, not that of a string.
    private var isJSON: [Bool]
    /// Whether the row has a field, also an empty one.
    private var isThere: [Bool]
    /// Names in languages that were found by the names of their fields: the tag, and where the text is.
    private(set) var names: [(tag: [UInt8], text: Range<Int>)] = []
    /// The tags of those that are empty.
    private(set) var emptyNames: [[UInt8]] = []

    init(fieldCount: Int) {
        fields = Array(repeating: 0..<0, count: fieldCount)
        isJSON = Array(repeating: false, count: fieldCount)
        isThere = isJSON
    }

    mutating func removeAll() {
        text.removeAll(keepingCapacity: true)
        for field in fields.indices { (fields[field], isJSON[field], isThere[field]) = (0..<0, false, false) }
        names.removeAll(keepingCapacity: true)
        emptyNames.removeAll(keepingCapacity: true)
        position = .inFields
        isBlank = true
    }

    /// Adds a name in a language.
    mutating func addName(in tag: [UInt8], text: Range<Int>) {
        if text.isEmpty { emptyNames.append(tag) } else { names.append((tag, text)) }
    }

    /// Notes that the row has a field, and no text there.
    mutating func setEmpty(_ field: Int) { isThere[field] = true }

    func has(_ field: Int) -> Bool { isThere[field] }

    /// Takes the text of a field, which is empty afterwards.
    mutating func take(_ field: Int) -> Range<Int> {
        defer { (fields[field], isJSON[field], isThere[field]) = (0..<0, false, false) }
        return fields[field]
    }

    /// Where the text of a field is; empty if the row doesn't have the field.
    subscript(field: Int) -> Range<Int> { fields[field] }

    @inline(__always)
    mutating func set(_ field: Int, to bytes: some Collection<UInt8>) {
        let start = text.count
        text.append(contentsOf: bytes)
        (fields[field], isThere[field]) = (start..<text.count, true)
    }

    mutating func set(_ field: Int, toJSON bytes: some Collection<UInt8>) {
        set(field, to: bytes)
        isJSON[field] = true
    }

    /// The JSON of a field's value: of one that GeoJSON gave as another type than a string, or of a text.
    func json(_ field: Int, ofText text: String) -> [UInt8] {
        if isJSON[field] { return Array(self.text[fields[field]]) }
        var writer = JSONWriter(capacity: text.utf8.count + 8)
        writer.value(text)
        return writer.bytes
    }

    /// Whether a field's value is an object or an array of JSON.
    func hasNestedJSON(_ field: Int) -> Bool {
        isJSON[field] && [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(text[fields[field]].first)
    }

    /// Leaves a part of a field's text, without blanks around it.
    mutating func cut(_ cut: Mapping.Cut) {
        guard !fields[cut.field].isEmpty else { return }
        var part = text[fields[cut.field]]
        func has(_ mark: [UInt8], at index: Int) -> Bool { part[index...].starts(with: mark) }
        if let end = part.indices.first(where: { index in cut.before.contains { has($0, at: index) } }) {
            part = part[..<end]
        }
        if !cut.behind.isEmpty, let start = part.indices.last(where: { has(cut.behind, at: $0) }) {
            part = part[(start + cut.behind.count)...]
        }
        guard part.indices != fields[cut.field] else { return }
        while part.last == 0x20 { part.removeLast() }
        (fields[cut.field], isJSON[cut.field]) = (part.drop { $0 == 0x20 }.indices, false)
    }

    /// Sets a field to the text between quotes, in which quotes are doubled.
    mutating func set(_ field: Int, toQuoted bytes: ArraySlice<UInt8>) {
        let start = text.count
        var isSecond = false
        for byte in bytes {
            isSecond = byte == UInt8(ascii: "\"") && !isSecond
            if !isSecond { text.append(byte) }
        }
        (fields[field], isThere[field]) = (start..<text.count, true)
    }

    /// Appends a text after those of the fields; returns where it is.
    mutating func appendText(_ body: (inout [UInt8]) -> Void) -> Range<Int> {
        let start = text.count
        body(&text)
        return start..<text.count
    }

    func has(_ field: Int, _ bytes: [UInt8]) -> Bool { text[fields[field]].elementsEqual(bytes) }

    func has(_ field: Int, prefix: [UInt8]) -> Bool { text[fields[field]].starts(with: prefix) }

    /// A field as a string; what isn't UTF-8 is replaced.
    func text(of range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }

    /// The decimal number that a field is, without spaces around it; an infinity if it is beyond all doubles, nil if it is
    /// none.
    func number(in range: Range<Int>) -> Double? {
        let trimmed = text[range].drop { $0 == 0x20 }
        return trimmed.lastIndex { $0 != 0x20 }.flatMap { DecimalNumber.parse(trimmed[...$0]) }
    }

    /// The number that a latitude or a longitude is, or an angle; nil if it is none.
    func coordinate(in range: Range<Int>, along axis: AngleText.Axis, inDegrees: Bool) -> Double? {
        if let number = number(in: range) { return number }
        return PositionText.coordinate(text[range], along: axis, inDegrees: inDegrees)
    }

    func bytes(of range: Range<Int>) -> ArraySlice<UInt8> { text[range] }

    func excerpt(of range: Range<Int>) -> String {
        let text = String(decoding: text[range].prefix(60), as: UTF8.self)
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }
}
