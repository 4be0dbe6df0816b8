/// Finds the name that somebody probably meant.
///
/// What is mistaken comes from outside, up to a hundred times in one request, and is compared with a whole
/// vocabulary: a comparison takes a few operations a letter.
enum NearestName {
    /// Longer texts are no slip of any name.
    private static let greatestLength = 64

    /// The known name that a mistaken one is a slip or a longer or shorter form of: `lon` or `longitude`
    /// for `long`; nil if none is near. Of several equally near ones, the first.
    static func find(for mistaken: String, among known: [String]) -> String? {
        guard let mistaken = EditDistance(from: Array(mistaken.lowercased().utf8)) else { return nil }
        var nearest: (name: String, distance: Int)?
        for name in known {
            guard let distance = relation(mistaken, Array(name.lowercased().utf8)) else { continue }
            if distance < nearest?.distance ?? .max { nearest = (name, distance) }
        }
        return nearest?.name
    }

    /// The distance of two related names; nil for strangers.
    private static func relation(_ mistaken: EditDistance, _ name: [UInt8]) -> Int? {
        guard !name.isEmpty, name.count <= greatestLength else { return nil }
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
