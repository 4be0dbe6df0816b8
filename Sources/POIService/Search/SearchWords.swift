import Foundation

/// The words of names and search texts, by which a search finds places: case, accents and ligatures don't matter.
///
/// The database has the same rule in SQL, for the words of the names that it stores: both must change together. All
/// comparisons are by code points.
public enum SearchWords {
    /// The words of a place's name, each once.
    ///
    /// Those of the text with apostrophes as separators, and those with apostrophes left out: "Children's" is
    /// found by `children`, `s` and `childrens`.
    public static func words(ofName name: String) -> [String] {
        let scalars = folded(name)
        return unique(cut(scalars) + cut(scalars.filter { !isApostrophe($0) }))
    }

    /// The words of a search text, each once; apostrophes separate.
    public static func words(ofQuery text: String) -> [String] {
        unique(cut(folded(text)))
    }

    /// Whether each word of a search text begins a word of a name; a text without words matches nothing.
    public static func matches(nameWords: [String], queryWords: [String]) -> Bool {
        !queryWords.isEmpty
            && queryWords.allSatisfy { query in
                // Not `hasPrefix`: it compares characters, which a following vowel sign changes.
                nameWords.contains { $0.unicodeScalars.starts(with: query.unicodeScalars) }
            }
    }

    /// Compatibility decomposition (NFKD), without combining marks, in lower case, and letters that have no
    /// decomposition written plainly.
    static func folded(_ text: String) -> [Unicode.Scalar] {
        var scalars: [Unicode.Scalar] = []
        for scalar in text.decomposedStringWithCompatibilityMapping.unicodeScalars
        where scalar.properties.generalCategory != .nonspacingMark {
            for lowercase in scalar.properties.lowercaseMapping.unicodeScalars {
                if let plain = plainLetters[lowercase] { scalars += plain } else { scalars.append(lowercase) }
            }
        }
        return scalars
    }

    private static let plainLetters: [Unicode.Scalar: [Unicode.Scalar]] = [
        "ß": ["s", "s"], "æ": ["a", "e"], "œ": ["o", "e"], "ø": ["o"], "đ": ["d"], "ð": ["d"],
        "þ": ["t", "h"], "ł": ["l"], "ħ": ["h"], "ı": ["i"], "ς": ["σ"],
    ]

    private static func cut(_ scalars: [Unicode.Scalar]) -> [String] {
        scalars.split(whereSeparator: isSeparator).map { String(String.UnicodeScalarView($0)) }
    }

    /// Equal strings are equal code points here, since all are decomposed.
    private static func unique(_ words: [String]) -> [String] {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }
    }

    private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "'" || scalar == "\u{2019}" || scalar == "\u{02BC}"
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x61...0x7A: false
        case 0x3005...0x3007: false
        case 0...0xBF, 0x02BC, 0x2000...0x206F, 0x3000...0x303F: true
        default: false
        }
    }
}
