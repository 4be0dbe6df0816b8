import Foundation
import PointsOfInterestAPI

/// The properties that places can be filtered by, as the table `filterable_properties` has them.
public struct FilterableProperties: Hashable, Sendable {
    /// What a property's values have to be to be found.
    public enum Kind: String, Hashable, Sendable {
        /// `true` or `false`.
        case boolean
        /// A text, or an array with texts.
        case text
    }

    /// One of them.
    private struct Property: Hashable {
        let name: ExactName
        let kind: Kind
        /// The name as a place's record has it.
        let escapedName: [UInt8]
    }

    /// What is known of them, in one object: requests copy the vocabularies that it is a part of.
    private final class Known: Hashable, Sendable {
        let names: NameVocabulary
        /// In the order of the names' UTF-8.
        let properties: [Property]

        init(_ names: NameVocabulary, _ properties: [Property]) {
            (self.names, self.properties) = (names, properties)
        }

        static func == (one: Known, other: Known) -> Bool {
            one === other || one.properties == other.properties
        }

        func hash(into hasher: inout Hasher) { hasher.combine(properties) }
    }

    /// None.
    public static let none = FilterableProperties([])

    /// Nil where there is none.
    private let known: Known?

    /// Makes them of names and kinds; of two with the same name, the later one is left out.
    public init(_ properties: some Sequence<(name: String, kind: Kind)>) {
        var kinds: [ExactName: Kind] = [:]
        for (name, kind) in properties where kinds[ExactName(name)] == nil { kinds[ExactName(name)] = kind }
        let names = NameVocabulary(kinds.keys.map(\.text))
        let sorted = names.sortedNames.map { name in
            Property(
                name: ExactName(name), kind: kinds[ExactName(name)] ?? .text,
                escapedName: PropertySelection.escaped(name))
        }
        known = sorted.isEmpty ? nil : Known(names, sorted)
    }

    private var properties: [Property] { known?.properties ?? [] }

    /// Whether there is none.
    package var isEmpty: Bool { known == nil }

    /// Their names and kinds, in the order of the names' UTF-8.
    package var sorted: [(name: String, kind: Kind)] { properties.map { ($0.name.text, $0.kind) } }

    /// The kind of a property; nil where places can't be filtered by it.
    func kind(of name: String) -> Kind? {
        guard let known, known.names.contains(name) else { return nil }
        return known.properties.first { $0.name == ExactName(name) }?.kind
    }

    /// The nearest name to a mistaken one; nil where none is near.
    func nearest(to mistaken: String) -> String? { known?.names.nearest(to: mistaken) }

    /// Calls `body` with each value by which a place can be found: `true` or `false`, or a text that a request can ask for, as it
    /// is compared. A value may come twice.
    ///
    /// - Parameter record: what `PlaceRecord.encode` has written.
    package func forEachValue(
        ofRecord record: UnsafeRawBufferPointer, _ body: (_ name: String, _ value: String) -> Void
    ) {
        guard let known, let members = PlaceRecord.properties(of: record) else { return }
        for property in known.properties {
            guard let member = members.member(named: property.escapedName) else { continue }
            // Behind the name are a quotation mark and a colon.
            var scanner = JSONScanner(
                member.assumingMemoryBound(to: UInt8.self), from: property.escapedName.count + 3)
            scanner.forEachValue(of: property.kind) { body(property.name.text, $0) }
        }
    }
}

extension JSONScanner {
    /// Calls `body` with each value of this kind, as it is compared. The JSON was checked before.
    fileprivate mutating func forEachValue(
        of kind: FilterableProperties.Kind, _ body: (String) -> Void
    ) {
        switch (kind, next) {
        case (.boolean, UInt8(ascii: "t")): body("true")
        case (.boolean, UInt8(ascii: "f")): body("false")
        case (.text, UInt8(ascii: "\"")): text(body)
        case (.text, UInt8(ascii: "[")):
            try? array { (scanner) throws(SyntaxError) in
                guard scanner.next == UInt8(ascii: "\"") else { return try scanner.skipValue() }
                scanner.text(body)
            }
        default: break
        }
    }

    private mutating func text(_ body: (String) -> Void) {
        guard let text = try? string().decoded(in: bytes), let value = PropertyFilter.compared(text) else {
            return
        }
        body(value)
    }
}

extension PropertyFilter {
    /// A text as it is compared: in Normalization Form C (UAX #15). Nil where no request can ask for it.
    static func compared(_ text: String) -> String? {
        // The length as written bounds what composing costs, which grows with the square of a run of marks.
        guard !text.utf8.contains(UInt8(ascii: ",")), valueLengths.contains(text.unicodeScalars.count) else {
            return nil
        }
        return text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
    }
}
