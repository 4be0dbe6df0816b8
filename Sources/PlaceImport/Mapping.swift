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

    subscript(field: ImportField) -> [Choice] { choices[field.number] }

    /// Whether every category has a condition, so that a row that fulfils none isn't selected.
    var selectsByCategory: Bool { self[.category].allSatisfy { !$0.conditions.isEmpty } }

    /// Adds a choice after those that are there.
    mutating func add(_ choice: Choice, for field: ImportField) { choices[field.number].append(choice) }

    /// Takes a field from this column alone.
    mutating func take(_ field: ImportField, from column: String) {
        choices[field.number] = [Choice(parts: [.field(index(of: column))])]
        if field == .id { requiresID = true }
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
