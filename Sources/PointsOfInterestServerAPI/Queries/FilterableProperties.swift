import Foundation
import PointsOfInterestAPI

/// The properties that places can be filtered by, as the table `filterable_properties` has them.
package struct FilterableProperties: Hashable, Sendable {
    /// What a property's values have to be to be found.
    package enum Kind: String, Hashable, Sendable {
        /// `true` or `false`.
        case boolean
        /// A text, or an array with texts.
        case text
    }

    /// One of them.
    private struct Property: Hashable {
        let name: ExactName
        let kind: Kind
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

    package static let none = FilterableProperties([])

    /// Nil where there is none.
    private let known: Known?

    /// Makes them of names and kinds; of two with the same name, the later one is left out.
    package init(_ properties: some Sequence<(name: String, kind: Kind)>) {
        var kinds: [ExactName: Kind] = [:]
        for (name, kind) in properties where kinds[ExactName(name)] == nil { kinds[ExactName(name)] = kind }
        let names = NameVocabulary(kinds.keys.map(\.text))
        let sorted = names.sortedNames.map { name in
            Property(name: ExactName(name), kind: kinds[ExactName(name)] ?? .text)
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
}

extension PropertyFilter {
    /// A text as it is compared: in Normalization Form C (UAX #15). Nil where no request can ask for it.
    package static func compared(_ text: String) -> String? {
        // The length as written bounds what composing costs, which grows with the square of a run of marks.
        guard !text.utf8.contains(UInt8(ascii: ",")), valueLengths.contains(text.unicodeScalars.count) else {
            return nil
        }
        return text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
    }
}
