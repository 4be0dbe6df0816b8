/// Finds the name that somebody probably meant.
enum NearestName {
    /// The known name that a mistaken one is a slip or a longer or shorter form of: `lon` or `longitude`
    /// for `long`; nil if none is near.
    static func find(for mistaken: String, among known: [String]) -> String? {
        let mistaken = mistaken.lowercased()
        let related = known.filter { isRelated(mistaken, $0) }
        return related.min { distance(mistaken, $0) < distance(mistaken, $1) }
    }

    private static func isRelated(_ mistaken: String, _ name: String) -> Bool {
        let isForm = mistaken.count > 1 && (mistaken.hasPrefix(name) || name.hasPrefix(mistaken))
        return isForm || 2 * distance(mistaken, name) <= max(mistaken.count, name.count)
    }

    /// The Levenshtein distance: how many characters to insert, delete or replace.
    private static func distance(_ first: String, _ second: String) -> Int {
        let second = Array(second)
        var row = Array(0...second.count)
        for (index, character) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in second.indices {
                let replaced = diagonal + (second[column] == character ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
