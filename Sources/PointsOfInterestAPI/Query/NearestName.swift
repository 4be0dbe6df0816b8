/// Finds the name that somebody probably meant.
///
/// What is mistaken comes from outside, many times in one request: a name costs next to nothing here unless
/// it is about as long as the mistaken one.
enum NearestName {
    /// Longer texts are no slip of any name.
    private static let greatestLength = 64

    /// The known name that a mistaken one is a slip or a longer or shorter form of: `lon` or `longitude`
    /// for `long`; nil if none is near. Of several equally near ones, the first.
    static func find(for mistaken: String, among known: [String]) -> String? {
        guard mistaken.utf8.count <= greatestLength else { return nil }
        let mistaken = Array(mistaken.lowercased().utf8)
        var nearest: (name: String, distance: Int)?
        for name in known {
            guard let distance = relation(mistaken, Array(name.lowercased().utf8)) else { continue }
            if distance < nearest?.distance ?? .max { nearest = (name, distance) }
        }
        return nearest?.name
    }

    /// The distance of two related names; nil for strangers.
    private static func relation(_ mistaken: [UInt8], _ name: [UInt8]) -> Int? {
        guard !name.isEmpty, name.count <= greatestLength else { return nil }
        let isForm = mistaken.count > 1 && (mistaken.starts(with: name) || name.starts(with: mistaken))
        if isForm { return abs(mistaken.count - name.count) }
        // One slip in three letters: with more, `color` would be `cursor`.
        let tolerance = max(mistaken.count, name.count) / 3
        // No distance is less than the difference of the lengths.
        guard abs(mistaken.count - name.count) <= tolerance else { return nil }
        let distance = distance(mistaken, name)
        return distance <= tolerance ? distance : nil
    }

    /// The Levenshtein distance: how many bytes to insert, delete or replace.
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var row = Array(0...second.count)
        for (index, byte) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in second.indices {
                let replaced = diagonal + (second[column] == byte ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
