/// Finds the name that somebody probably meant.
///
/// What is mistaken comes from outside, up to a hundred times in one request, and is compared with a whole
/// vocabulary: the vocabulary is prepared once, and a comparison takes a few operations a letter.
struct NearestName: Hashable, Sendable {
    private struct Known: Hashable {
        let name: String
        let lowercased: [UInt8]
    }

    /// Longer texts are no slip of any name.
    private static let maximumLength = 64

    private let known: [Known]

    /// Prepares the names that there are.
    init(among names: [String]) {
        known = names.map { Known(name: $0, lowercased: Array($0.lowercased().utf8)) }
            .filter { (1...Self.maximumLength).contains($0.lowercased.count) }
    }

    /// The known name that a mistaken one is a slip or a longer or shorter form of: `lon` or `longitude`
    /// for `long`; nil if none is near. Of several equally near ones, the first.
    func find(for mistaken: String) -> String? {
        // In lower case a text has a third of its bytes at least: the sign for kelvin becomes a k.
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

    /// The same for names that are needed once.
    static func find(for mistaken: String, among names: [String]) -> String? {
        NearestName(among: names).find(for: mistaken)
    }

    /// The distance of two related names; nil for strangers.
    private static func relation(_ mistaken: EditDistance, _ name: [UInt8]) -> Int? {
        let text = mistaken.text
        let isForm = text.count > 1 && (text.starts(with: name) || name.starts(with: text))
        if isForm { return abs(text.count - name.count) }
        // One slip in three letters: with more, `color` would be `cursor`.
        let tolerance = max(text.count, name.count) / 3
        // No distance is less than the difference of the lengths.
        guard abs(text.count - name.count) <= tolerance else { return nil }
        let distance = mistaken.distance(to: name)
        return distance <= tolerance ? distance : nil
    }
}
