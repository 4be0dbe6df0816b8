/// Finds the known name that is nearest to a misspelt one: "did you mean …?".
///
/// One request can have a hundred misspelt names, each of which is compared with a whole vocabulary. So the vocabulary
/// is prepared once, and a comparison takes a few operations a byte.
struct NearestName: Hashable, Sendable {
    private struct Known: Hashable {
        let name: String
        let lowercased: [UInt8]
    }

    /// Longer texts aren't near any name.
    private static let maximumLength = 64

    private let known: [Known]

    /// Prepares the known names.
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
    static func find(for mistaken: String, among names: [String]) -> String? {
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
