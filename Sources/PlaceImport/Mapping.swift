import Foundation
import PointsOfInterestAPI

/// Makes the fields of a place from those of a row: each field of a place has a list of choices, of which the first one that
/// applies and gives a text is taken. The files in `Mappings` are in the format that users write (`Mapping+JSON.swift`).
struct Mapping {
    /// A text with fields of the row in it, taken if the conditions hold and all its fields are there.
    struct Choice {
        /// Those of `when`, then those of `unless`, which are reversed.
        var conditions: [Condition] = []
        var parts: [Part]
        /// Where there is one, the text is a number, of which the decimal logarithm times this factor is taken.
        var logarithmFactor: Double?
        var fields: [Int] { conditions.map(\.field) + parts.flatMap(\.fields) }
        /// The field that is all of its text; nil where there are others, or other texts.
        var onlyField: Int? {
            guard parts.count == 1, case .field(let field) = parts[0] else { return nil }
            return field
        }
        /// Those without which the choice never applies.
        var neededFields: [Int] { conditions.filter(\.needsField).map(\.field) + parts.flatMap(\.fields) }
    }

    /// What is left of a field's text: what is before the first of some texts, and of that what is behind the last of another one.
    struct Cut {
        var field: Int
        var before: [[UInt8]] = []
        var behind: [UInt8] = []
    }

    enum Part {
        case text([UInt8])
        case field(Int)
        /// What a table has for the text that the parts are together.
        indirect case lookup([Part], LookupTable)

        var fields: [Int] {
            switch self {
            case .text: []
            case .field(let field): [field]
            case .lookup(let key, _): key.flatMap(\.fields)
            }
        }
    }

    /// Texts by the texts that they stand for.
    typealias LookupTable = [[UInt8]: [UInt8]]

    struct Condition {
        enum Pattern: Equatable {
            case anything
            case exactly([UInt8])
            case prefix([UInt8])
        }
        var field: Int
        var patterns: [Pattern]
        var isReversed = false
        /// Whether it holds where the field has no text.
        var holdsIfEmpty = false
        var needsField: Bool { !isReversed && !holdsIfEmpty }
    }

    /// The row's fields that are used. A field is known by its index in here.
    private(set) var fieldNames: [String] = []
    var columns: [String]?
    var delimiter: UInt8?
    /// Whether quotes in a delimited file quote; otherwise they are text.
    var hasQuotes = true
    /// Whether an option names the column of the id. Then each row must have an id.
    private(set) var requiresID = false
    private var choices: [[Choice]] = ImportField.allCases.map { _ in [] }
    private(set) var cuts: [Cut] = []
    /// The row's fields that become properties of the place, by the names that they have there.
    private(set) var properties: [(name: String, field: Int)] = []
    /// What the names of columns with a name in a language begin with; the rest is the language's tag.
    private(set) var namesPrefix: String?
    /// The row's fields that have names in languages, where these are known before the first row.
    private(set) var names: [(tag: String, field: Int)] = []
    /// The row's fields that have other names, and what is between two of them.
    private(set) var otherNames: [(field: Int, separator: UInt8)] = []
    /// The row's fields that may have a JSON object with all names in languages, or with all properties.
    private(set) var (namesObject, propertiesObject): (Int?, Int?) = (nil, nil)
    /// The row's field that may have a JSON object with what people have corrected.
    private(set) var correctionsObject: Int?
    /// The fields that a row gives without having them: of a file whose rows have what they like, a mapping or an option names
    /// them.
    private(set) var namedFields: Set<ImportField> = []
    /// The same of the object with all properties.
    private(set) var namesAllProperties = false
    /// What is emptied, whatever rows have.
    private(set) var cleared: Set<ClearedMember> = []
    var lookupTables: [String: LookupTable] = [:]
    /// What is looked up in the tables of files, by their names.
    var tableKeys: [String: [Part]] = [:]
    /// A field that is only used while a row is read.
    static let spareField = "@names"

    subscript(field: ImportField) -> [Choice] { choices[field.number] }

    /// Whether every category has a condition, so that a row that fulfils none isn't selected.
    var selectsByCategory: Bool { self[.category].allSatisfy { !$0.conditions.isEmpty } }

    mutating func add(_ choice: Choice, for field: ImportField) { choices[field.number].append(choice) }

    mutating func add(_ cut: Cut) { cuts.append(cut) }

    /// Notes that each row gives all that is taken so far.
    mutating func nameAll() {
        namedFields = Set(ImportField.allCases.filter { !self[$0].isEmpty })
        if namesPrefix != nil || namesObject != nil { namedFields.insert(.names) }
        if !otherNames.isEmpty { namedFields.insert(.otherNames) }
        namesAllProperties = true
    }

    /// Takes nothing for a member, of which each row says that it is empty.
    mutating func clear(_ member: ClearedMember) {
        cleared.insert(member)
        switch member {
        case .field(.names): (namesPrefix, namesObject, names) = (nil, nil, [])
        case .field(.otherNames): otherNames = []
        case .field(let field): choices[field.number] = []
        case .properties: (properties, propertiesObject) = ([], nil)
        case .property(let name): properties.removeAll { $0.name == name }
        }
    }

    /// Takes a field from this column alone.
    mutating func take(_ field: ImportField, from column: String) {
        namedFields.insert(field)
        switch field {
        case .names:
            namesObject = nil
            return takeNames(fromColumns: column)
        case .otherNames:
            otherNames = []
            return takeOtherNames(from: column)
        // The column alone says where places are.
        case .position:
            (choices[ImportField.latitude.number], choices[ImportField.longitude.number]) = ([], [])
        default: break
        }
        choices[field.number] = [Choice(parts: [.field(index(of: column))])]
        if field == .id { requiresID = true }
    }

    mutating func set(_ field: ImportField, to text: String) {
        namedFields.insert(field)
        choices[field.number] = [Choice(parts: [.text(Array(text.utf8))])]
    }

    /// The row's fields that decide whether a row is selected, in the order in which choices name them; none where each row is.
    var selectingFields: [Int] {
        guard selectsByCategory else { return [] }
        var fields: [Int] = []
        for field in self[.category].flatMap(\.conditions).map(\.field) where !fields.contains(field) {
            fields.append(field)
        }
        return fields
    }

    /// The fields that a place must have and that no choice can give, if the row has only some of the fields. Instead of a
    /// latitude and a longitude there may be a position.
    func missingFields(where isThere: (Int) -> Bool) -> [ImportField] {
        func isFound(_ field: ImportField) -> Bool {
            self[field].contains { $0.neededFields.allSatisfy(isThere) }
        }
        var missing = [ImportField.name, .category].filter { !isFound($0) }
        if requiresID, !isFound(.id) { missing.insert(.id, at: 0) }
        if !isFound(.position) { missing += [.latitude, .longitude].filter { !isFound($0) } }
        return missing
    }

    /// Takes names in languages from all columns whose names begin like this one, which ends in `*`.
    mutating func takeNames(fromColumns pattern: String) {
        namesPrefix = String(pattern.dropLast(pattern.hasSuffix("*") ? 1 : 0))
        _ = index(of: Self.spareField)
    }

    /// Takes other names from this column, too.
    mutating func takeOtherNames(from column: String, separator: UInt8 = UInt8(ascii: ";")) {
        otherNames.append((index(of: column), separator))
    }

    /// Takes names in languages from the JSON object in this column, too.
    mutating func takeNames(fromObject column: String) { namesObject = index(of: column) }

    /// Takes all properties from the JSON object in this column.
    mutating func takeProperties(fromObject column: String) { propertiesObject = index(of: column) }

    /// Takes what people have corrected from the JSON object in this column.
    mutating func takeCorrections(fromObject column: String) { correctionsObject = index(of: column) }

    /// Finds the columns of names in languages.
    mutating func findNames(among columns: [String]) {
        guard let prefix = namesPrefix?.asciiLowercased else { return }
        for column in columns where column.asciiLowercased.utf8.starts(with: prefix.utf8) {
            names.append(
                (String(decoding: column.utf8.dropFirst(prefix.utf8.count), as: UTF8.self), index(of: column))
            )
        }
    }

    /// Makes a property of a column, once.
    mutating func takeProperty(from column: String) {
        guard !properties.contains(where: { $0.name == column }) else { return }
        properties.append((column, index(of: column)))
    }

    /// The row's fields that are properties and nothing else, so that they may hold any JSON.
    var propertyFields: Set<Int> {
        Set(properties.map(\.field)).subtracting(choices.joined().flatMap(\.fields))
    }

    /// The row's fields that may have an object or an array of JSON, which is read as a whole, whatever else is read of it.
    var wholeFields: Set<Int> {
        Set([namesObject, propertiesObject, correctionsObject].compactMap(\.self) + otherNames.map(\.field))
            .subtracting(choices.joined().flatMap(\.fields))
    }

    /// The row's fields that may have a position as an object or an array of JSON.
    var positionFields: Set<Int> {
        Set(self[.position].compactMap { choice in choice.conditions.isEmpty ? choice.onlyField : nil })
    }

    /// The names of the row's fields that something is made of, as options have left them, in lower case; without names in
    /// languages, of which those that are there twice are counted.
    var usedNames: Set<String> {
        let fields = choices.joined().flatMap(\.fields) + properties.map(\.field)
        return Set(wholeFields.union(fields).map { fieldNames[$0].asciiLowercased })
    }

    /// Whether a field is one of the names, the other names or the properties, or a part of them.
    func hasNamesOrProperties(in name: String) -> Bool {
        let name = name.asciiLowercased
        if let prefix = namesPrefix?.asciiLowercased, name.hasPrefix(prefix) { return true }
        if properties.contains(where: { $0.name.asciiLowercased == name }) { return true }
        return wholeFields.map { fieldNames[$0].asciiLowercased }
            .contains { name == $0 || name.hasPrefix($0 + ".") }
    }

    /// Files' names are compared without the case of ASCII letters, so two that differ in it are one field.
    mutating func index(of name: String) -> Int {
        if let index = fieldNames.firstIndex(where: { $0.asciiLowercased == name.asciiLowercased }) {
            return index
        }
        fieldNames.append(name)
        return fieldNames.count - 1
    }
}

extension Mapping.Choice {
    /// The text for a row; nil where this choice doesn't apply.
    @inline(__always)
    func text(of row: inout Row) -> Range<Int>? {
        if parts.count == 1, conditions.isEmpty, logarithmFactor == nil, case .field(let field) = parts[0] {
            return row[field].isEmpty ? nil : row[field]
        }
        return compose(from: &row)
    }

    @inline(never)
    private func compose(from row: inout Row) -> Range<Int>? {
        guard conditions.allSatisfy({ $0.holds(for: row) }), let text = joinedParts(of: &row) else {
            return nil
        }
        guard let logarithmFactor else { return text }
        guard let number = row.number(in: text), number > 0, number.isFinite else { return nil }
        let scaled = min(max((log10(number) * logarithmFactor).rounded(), 0), 1000)
        return row.appendText { $0 += Array("\(Int(scaled))".utf8) }
    }

    private func joinedParts(of row: inout Row) -> Range<Int>? {
        for part in parts where !part.isThere(in: row) { return nil }
        if parts.count == 1, case .field(let field) = parts[0] { return row[field] }
        guard let text = parts.text(of: row) else { return nil }
        return row.appendText { $0 += text }
    }
}

extension Mapping.Part {
    /// Whether a row has all its fields.
    fileprivate func isThere(in row: Row) -> Bool {
        switch self {
        case .text: true
        case .field(let field): !row[field].isEmpty
        case .lookup(let key, _): key.allSatisfy { $0.isThere(in: row) }
        }
    }
}

extension [Mapping.Part] {
    /// The text that they are together; nil where a table has nothing for a part.
    fileprivate func text(of row: Row) -> [UInt8]? {
        var text: [UInt8] = []
        for part in self {
            switch part {
            case .text(let bytes): text += bytes
            case .field(let field): text += row.bytes(of: row[field])
            case .lookup(let key, let table):
                guard let key = key.text(of: row), let found = table[key] else { return nil }
                text += found
            }
        }
        return text
    }
}

extension Mapping.Condition {
    func holds(for row: Row) -> Bool {
        guard !row[field].isEmpty else { return holdsIfEmpty }
        let isFound = patterns.contains { pattern in
            switch pattern {
            case .anything: true
            case .exactly(let text): row.has(field, text)
            case .prefix(let text): row.has(field, prefix: text)
            }
        }
        return isFound != isReversed
    }
}

extension [Mapping.Choice] {
    @inline(__always)
    func text(of row: inout Row) -> Range<Int>? {
        for choice in self {
            if let text = choice.text(of: &row) { return text }
        }
        return nil
    }
}
