import Foundation
import PointsOfInterestAPI

/// Makes the fields of a place from those of a row: each field of a place has a list of choices, of which the first one
/// that applies and gives a text is taken.
///
/// The files in `Mappings` are in the format that users write; Documentation/import.md describes it.
struct Mapping {
    /// A text with fields of the row in it, taken if the conditions hold and all its fields are there.
    struct Choice {
        var conditions: [Condition] = []
        var parts: [Part]
        /// Every field that it needs.
        var fields: [Int] {
            conditions.map(\.field)
                + parts.compactMap { if case .field(let field) = $0 { field } else { nil } }
        }
    }

    enum Part: Equatable {
        case text([UInt8])
        case field(Int)
    }

    /// A field has one of these values.
    struct Condition {
        enum Pattern: Equatable {
            case anything
            case exactly([UInt8])
            case prefix([UInt8])
        }
        var field: Int
        var patterns: [Pattern]
    }

    /// The row's fields that are used. A field is known by its index in here.
    private(set) var fieldNames: [String] = []
    /// The columns of a file without a header.
    var columns: [String]?
    var delimiter: UInt8?
    /// Whether quotes in a delimited file quote; otherwise they are text.
    var hasQuotes = true
    /// Whether an option names the column of the id. Then each row must have an id.
    private(set) var requiresID = false
    private var choices: [[Choice]] = ImportField.allCases.map { _ in [] }
    /// The row's fields that become properties of the place, by the names that they have there.
    private(set) var properties: [(name: String, field: Int)] = []
    /// What the names of columns with a name in a language begin with; the rest is the language's tag.
    private(set) var namesPrefix: String?
    /// The row's fields that have names in languages, where these are known before the first row.
    private(set) var names: [(tag: String, field: Int)] = []
    /// The row's fields that have other names.
    private(set) var otherNames: [Int] = []
    /// A field that is only used while a row is read.
    static let spareField = "@names"

    subscript(field: ImportField) -> [Choice] { choices[field.number] }

    /// Whether every category has a condition, so that a row that fulfils none isn't selected.
    var selectsByCategory: Bool { self[.category].allSatisfy { !$0.conditions.isEmpty } }

    /// Adds a choice after those that are there.
    mutating func add(_ choice: Choice, for field: ImportField) { choices[field.number].append(choice) }

    /// Takes a field from this column alone.
    mutating func take(_ field: ImportField, from column: String) {
        switch field {
        case .names: return takeNames(fromColumns: column)
        case .otherNames: return otherNames = [index(of: column)]
        default: break
        }
        choices[field.number] = [Choice(parts: [.field(index(of: column))])]
        if field == .id { requiresID = true }
    }

    /// Takes names in languages from all columns whose names begin like this one, which ends in `*`.
    mutating func takeNames(fromColumns pattern: String) {
        namesPrefix = String(pattern.dropLast(pattern.hasSuffix("*") ? 1 : 0))
        _ = index(of: Self.spareField)
    }

    /// Finds the columns of names in languages.
    mutating func findNames(among columns: [String]) {
        guard let prefix = namesPrefix?.asciiLowercased else { return }
        for column in columns where column.asciiLowercased.utf8.starts(with: prefix.utf8) {
            let field =
                fieldNames.firstIndex { $0.asciiLowercased == column.asciiLowercased } ?? index(of: column)
            names.append((String(decoding: column.utf8.dropFirst(prefix.utf8.count), as: UTF8.self), field))
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

    /// The index of a row's field.
    mutating func index(of name: String) -> Int {
        if let index = fieldNames.firstIndex(of: name) { return index }
        fieldNames.append(name)
        return fieldNames.count - 1
    }

    /// The parts of a text with fields in braces, `{street} {number}`; nil where a brace has no counterpart.
    mutating func parts(of template: String) -> [Part]? {
        var parts: [Part] = []
        var rest = template[...]
        while !rest.isEmpty {
            let text = rest.prefix { $0 != "{" && $0 != "}" }
            if !text.isEmpty { parts.append(.text(Array(text.utf8))) }
            rest = rest[text.endIndex...]
            guard !rest.isEmpty else { break }
            guard rest.removeFirst() == "{", let end = rest.firstIndex(of: "}"), end > rest.startIndex
            else { return nil }
            parts.append(.field(index(of: String(rest[..<end]))))
            rest = rest[rest.index(after: end)...]
        }
        return parts
    }
}

extension Mapping.Choice {
    /// The text for a row; nil where this choice doesn't apply.
    @inline(__always)
    func text(of row: inout Row) -> Range<Int>? {
        if parts.count == 1, conditions.isEmpty, case .field(let field) = parts[0] {
            return row[field].isEmpty ? nil : row[field]
        }
        return compose(from: &row)
    }

    @inline(never)
    private func compose(from row: inout Row) -> Range<Int>? {
        guard conditions.allSatisfy({ $0.holds(for: row) }) else { return nil }
        for case .field(let field) in parts where row[field].isEmpty { return nil }
        if parts.count == 1, case .field(let field) = parts[0] { return row[field] }
        let fields = parts.map { if case .field(let field) = $0 { row[field] } else { 0..<0 } }
        return row.appendText { text in
            for (part, field) in zip(parts, fields) {
                if case .text(let bytes) = part { text += bytes } else { text += Array(text[field]) }
            }
        }
    }
}

extension Mapping.Condition {
    func holds(for row: Row) -> Bool {
        guard !row[field].isEmpty else { return false }
        return patterns.contains { pattern in
            switch pattern {
            case .anything: true
            case .exactly(let text): row.has(field, text)
            case .prefix(let text): row.has(field, prefix: text)
            }
        }
    }
}

extension [Mapping.Choice] {
    /// The text of the first choice that has one.
    @inline(__always)
    func text(of row: inout Row) -> Range<Int>? {
        for choice in self {
            if let text = choice.text(of: &row) { return text }
        }
        return nil
    }
}

extension Mapping {
    /// The mappings that come with the program, by their names.
    static let builtIn: [String: [UInt8]] = [
        "columns": PackageResources.columns_json, "geonames": PackageResources.geonames_json,
        "openstreetmap": PackageResources.openstreetmap_json,
    ]

    /// Reads a built-in mapping or a file.
    static func named(_ name: String) throws(ImportError) -> Mapping {
        if let json = builtIn[name] { return try Mapping(json: Data(json), path: name) }
        guard let json = FileManager.default.contents(atPath: name) else {
            let names = builtIn.keys.sorted().joined(separator: ", ")
            throw ImportError("there is no such mapping: neither a file nor one of \(names)", path: name)
        }
        return try Mapping(json: json, path: name)
    }

    /// Reads a mapping's JSON; an error names the part that is wrong.
    init(json: Data, path: String) throws(ImportError) {
        let members: JSONValue.Object
        do {
            guard case .object(let object) = try JSONDecoder().decode(JSONValue.self, from: json) else {
                throw ImportError("should be a JSON object", path: path)
            }
            members = object
        } catch let error as ImportError {
            throw error
        } catch {
            throw ImportError("isn't JSON: \(Self.reason(for: error))", path: path)
        }
        do throws(Fault) {
            for (name, value) in members.members { try read(value, named: name) }
            for field in [ImportField.name, .category] where self[field].isEmpty {
                throw Fault("\(field)", "is missing")
            }
        } catch {
            throw ImportError("\(error.place): \(error.reason)", path: path)
        }
    }

    /// What is wrong, and where: `category[3].when`.
    private struct Fault: Error {
        let place: String
        let reason: String

        init(_ place: String, _ reason: String) {
            self.place = place
            self.reason = reason
        }
    }

    private static func reason(for error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
        let cause = (context.underlyingError as? NSError)?.userInfo[NSDebugDescriptionErrorKey] as? String
        return (cause ?? context.debugDescription).replacing("\n", with: " ")
    }

    private mutating func read(_ value: JSONValue, named name: String) throws(Fault) {
        switch (name, value) {
        case ("description", .string): break
        case ("quotes", .boolean(let hasQuotes)): self.hasQuotes = hasQuotes
        case ("delimiter", .string(let text)):
            guard let byte = text.utf8.first, text.utf8.count == 1 else {
                throw Fault(name, "should be one character of ASCII")
            }
            delimiter = byte
        case ("columns", .array(let values)):
            columns = values.compactMap(\.text)
            guard columns?.count == values.count else { throw Fault(name, "should be a list of names") }
        case ("properties", .array(let values)):
            for value in values {
                guard let name = value.text, !name.isEmpty else {
                    throw Fault(name, "should be a list of names")
                }
                takeProperty(from: name)
            }
        case ("names", .string(let pattern)) where pattern.count > 1 && pattern.hasSuffix("*"):
            takeNames(fromColumns: pattern)
        case ("names", _):
            throw Fault(name, "should be the beginning of columns' names, with * for the language")
        case ("other_names", .array(let values)):
            otherNames = values.compactMap(\.text).map { index(of: $0) }
            guard otherNames.count == values.count else { throw Fault(name, "should be a list of names") }
        case ("properties", _), ("other_names", _): throw Fault(name, "should be a list of names")
        case ("description", _), ("delimiter", _): throw Fault(name, "should be a text")
        case ("quotes", _): throw Fault(name, "should be true or false")
        case ("columns", _): throw Fault(name, "should be a list of names")
        default:
            guard let field = ImportField(rawValue: name) else {
                let known =
                    ImportField.allCases.map(\.rawValue) + ["columns", "delimiter", "properties", "quotes"]
                throw Fault(name, "isn't one of \(known.joined(separator: ", "))")
            }
            guard case .array(let values) = value else { throw Fault(name, "should be a list of choices") }
            for (index, value) in values.enumerated() {
                add(try choice(value, place: "\(name)[\(index)]"), for: field)
            }
        }
    }

    private mutating func choice(_ value: JSONValue, place: String) throws(Fault) -> Choice {
        switch value {
        case .string(let template):
            return Choice(parts: try parts(template, place: place))
        case .object(let object):
            var choice = Choice(parts: [])
            for (name, value) in object.members {
                let place = "\(place).\(name)"
                switch (name, value) {
                case ("when", .object(let conditions)):
                    for (field, value) in conditions.members {
                        choice.conditions.append(try condition(field, value, place: "\(place).\(field)"))
                    }
                case ("then", .string(let template)): choice.parts = try parts(template, place: place)
                case ("when", _): throw Fault(place, "should be an object of fields and their values")
                case ("then", _): throw Fault(place, "should be a text")
                default: throw Fault(place, "isn't one of when, then")
                }
            }
            guard !choice.parts.isEmpty else { throw Fault(place, "has no \"then\"") }
            return choice
        default:
            throw Fault(place, "should be a text, or an object of \"when\" and \"then\"")
        }
    }

    private mutating func parts(_ template: String, place: String) throws(Fault) -> [Part] {
        guard let parts = parts(of: template) else {
            throw Fault(place, "a brace has no counterpart: \(template)")
        }
        guard !parts.isEmpty else { throw Fault(place, "is empty") }
        return parts
    }

    private mutating func condition(
        _ field: String, _ value: JSONValue, place: String
    ) throws(Fault) -> Condition {
        let values: [JSONValue] = if case .array(let values) = value { values } else { [value] }
        let patterns = values.compactMap(\.text).map { text -> Condition.Pattern in
            guard text.last == "*" else { return .exactly(Array(text.utf8)) }
            return text == "*" ? .anything : .prefix(Array(text.utf8.dropLast()))
        }
        guard !patterns.isEmpty, patterns.count == values.count else {
            throw Fault(place, "should be a text or a list of texts")
        }
        return Condition(field: index(of: field), patterns: patterns)
    }
}
