import PointsOfInterestAPI

package struct ParameterError: Error, Hashable, Sendable {
    /// Every fault of the request, never empty.
    package let faults: [ParameterFault]

    /// The problem's code: the faults' code if all have the same one, else `invalid-parameters`.
    package var code: ProblemCode {
        guard let first = faults.first?.code, faults.allSatisfy({ $0.code == first }) else {
            return .invalidParameters
        }
        return first
    }

    /// Makes an error of at least one fault.
    package init(faults: [ParameterFault]) {
        self.faults = faults
    }
}

extension ParameterFault {
    /// The parameter and its fault in a sentence. A query like `=3` has a parameter without a name.
    fileprivate var sentence: String {
        "\(parameter.isEmpty ? "a parameter without a name" : parameter) \(detail)"
    }
}

extension Problem {
    /// Makes the problem of a request that was refused for its parameters.
    package init(_ error: ParameterError, requestId: String? = nil) {
        self.init(
            error.code,
            detail: error.faults.map(\.sentence).joined(separator: "; "),
            requestId: requestId,
            errors: error.faults)
    }
}

/// The name of a query parameter to ignore, or with a `*` at its end, a prefix of such names: `utm_*`.
package struct ParameterPattern: Hashable, Sendable {
    private let name: [UInt8]
    private let isPrefix: Bool

    /// Makes a pattern; nil where it is empty, or has a `*` elsewhere than at its end.
    package init?(_ pattern: String) {
        isPrefix = pattern.hasSuffix("*")
        name = Array(pattern.utf8.dropLast(isPrefix ? 1 : 0))
        if pattern.isEmpty || name.contains(UInt8(ascii: "*")) { return nil }
    }

    func matches(_ name: some Sequence<UInt8>) -> Bool {
        isPrefix ? name.starts(with: self.name) : name.elementsEqual(self.name)
    }
}

/// The names that a request may filter by.
package struct FilterVocabulary: Hashable, Sendable {
    /// The categories that have ever existed: they only grow.
    package let categories: NameVocabulary
    /// The datasets that places came from, as in `/attributions`, and those that are described but have no places.
    package let datasets: NameVocabulary
    /// The properties that places can be filtered by.
    package let properties: FilterableProperties

    package init(
        categories: some Sequence<String>, datasets: some Sequence<String> = [],
        properties: FilterableProperties = .none
    ) {
        self.init(
            categories: NameVocabulary(categories), datasets: NameVocabulary(datasets), properties: properties
        )
    }

    /// Makes a vocabulary of names that are prepared already.
    package init(categories: NameVocabulary, datasets: NameVocabulary, properties: FilterableProperties) {
        self.categories = categories
        self.datasets = datasets
        self.properties = properties
    }
}

package struct NameVocabulary: Hashable, Sendable {
    /// The names, each once, in the order of their UTF-8.
    package let sortedNames: [String]
    private let names: Set<ExactName>
    private let nearestName: NearestName

    package init(_ names: some Sequence<String>) {
        sortedNames = Array(names).uniqueInByteOrder
        self.names = Set(sortedNames.map(ExactName.init))
        nearestName = NearestName(among: sortedNames)
    }

    package func contains(_ name: String) -> Bool { names.contains(ExactName(name)) }

    /// The nearest name; nil where none is near.
    package func nearest(to mistaken: String) -> String? {
        nearestName.find(for: mistaken)
    }
}

/// A name that is compared byte by byte, as in PostgreSQL. Swift compares strings by canonical equivalence, which also
/// takes time that grows with the square of the length of a run of combining marks.
package struct ExactName: Hashable, Sendable {
    /// The name.
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (one: Self, other: Self) -> Bool { one.text.hasSameBytes(as: other.text) }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: text)
    }
}

/// Finds the known name that is nearest to a misspelt one: "did you mean …?".
///
/// One request can have a hundred misspelt names, each of which is compared with a whole vocabulary. So the vocabulary
/// is prepared once, and a comparison takes a few operations a byte.
package struct NearestName: Hashable, Sendable {
    private struct Known: Hashable {
        let name: String
        let lowercased: [UInt8]
    }

    /// Longer texts aren't near any name.
    private static let maximumLength = 64

    private let known: [Known]

    init(among names: [String]) {
        known = names.map { Known(name: $0, lowercased: Array($0.lowercased().utf8)) }
            .filter { (1...Self.maximumLength).contains($0.lowercased.count) }
    }

    /// The known name that is nearest to a mistaken one, which is a misspelling or a longer or shorter form of it: `lon`
    /// or `longitude` for `long`. Nil if none is near. If several are equally near, the first of them.
    func find(for mistaken: String) -> String? {
        // In lower case a text has at least a third of its bytes: the sign for kelvin becomes a k.
        guard mistaken.utf8.count <= 3 * Self.maximumLength,
            let mistaken = EditDistance(from: Array(mistaken.lowercased().utf8))
        else { return nil }
        var nearest: (name: String, distance: Int)?
        for known in known {
            guard let distance = Self.relation(mistaken, known.lowercased) else { continue }
            if distance < nearest?.distance ?? .max { nearest = (known.name, distance) }
        }
        return nearest?.name
    }

    /// Finds the nearest of names that are used only once.
    package static func find(for mistaken: String, among names: [String]) -> String? {
        NearestName(among: names).find(for: mistaken)
    }

    /// The distance of two names; nil where it is too large.
    private static func relation(_ mistaken: EditDistance, _ name: [UInt8]) -> Int? {
        let text = mistaken.text
        let isForm = text.count > 1 && (text.starts(with: name) || name.starts(with: text))
        if isForm { return abs(text.count - name.count) }
        // One wrong letter in three is allowed: with more, `color` would be near to `cursor`.
        let tolerance = max(text.count, name.count) / 3
        // The distance is at least the difference of the lengths.
        guard abs(text.count - name.count) <= tolerance else { return nil }
        let distance = mistaken.distance(to: name)
        return distance <= tolerance ? distance : nil
    }
}

/// The Levenshtein distance from a text of at most 64 bytes: how many bytes to insert, delete or replace.
///
/// A column of the usual table is stored as two words of bits. One has the places where the distance goes up, the other
/// those where it goes down, so that a column costs a few operations. Source: H. Hyyrö, "A Bit-Vector Algorithm for
/// Computing Levenshtein and Damerau Edit Distances", 2003, figure 3 (after G. Myers, 1999).
package struct EditDistance {
    package let text: [UInt8]
    /// For each byte value, a bit for each position in the text at which it stands.
    private let positions: [UInt64]

    /// Nil if the text is empty or has more than 64 bytes.
    package init?(from text: [UInt8]) {
        guard (1...UInt64.bitWidth).contains(text.count) else { return nil }
        var positions = [UInt64](repeating: 0, count: 256)
        for (index, byte) in text.enumerated() { positions[Int(byte)] |= 1 << UInt64(index) }
        self.text = text
        self.positions = positions
    }

    /// The distance to another text, of any length.
    package func distance(to other: [UInt8]) -> Int {
        let last = UInt64(1) << UInt64(text.count - 1)
        var distance = text.count
        var up = UInt64.max
        var down = UInt64(0)
        for byte in other {
            let equal = positions[Int(byte)]
            let unchanged = (((equal & up) &+ up) ^ up) | equal | down
            var rise = down | ~(unchanged | up)
            var fall = up & unchanged
            if rise & last != 0 { distance += 1 }
            if fall & last != 0 { distance -= 1 }
            rise = rise << 1 | 1
            fall <<= 1
            up = fall | ~(unchanged | rise)
            down = rise & unchanged
        }
        return distance
    }
}
