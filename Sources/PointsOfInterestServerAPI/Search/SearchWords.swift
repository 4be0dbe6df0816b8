import Foundation

/// The words of names and search texts, by which a search finds places: case, accents and ligatures don't matter.
///
/// A name has the words that apostrophes separate, and those that it has without apostrophes: "Children's" is found by
/// `children`, `s` and `childrens`. A text finds a name if each word of the text begins a word of the name.
///
/// The database has the same rule in SQL, for the words of the names that it stores: both must change together. All
/// comparisons are by code points.
public enum SearchWords {
    /// The words of a search text, each once; apostrophes separate.
    public static func words(ofQuery text: String) -> [String] {
        words(in: folded(text))
    }

    /// Compatibility decomposition (NFKD), without combining marks, in lower case, and letters that have no
    /// decomposition written plainly.
    package static func folded(_ text: String) -> [Unicode.Scalar] {
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

    /// The words of a text that is folded, each once.
    package static func words(in folded: [Unicode.Scalar]) -> [String] {
        var seen: Set<String> = []
        // Equal strings are equal code points here, since all are decomposed.
        return folded.split(whereSeparator: isSeparator).map { String(String.UnicodeScalarView($0)) }
            .filter { seen.insert($0).inserted }
    }

    /// Whether it is an apostrophe. In search texts it separates words, in names it also joins them.
    package static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "'" || scalar == "\u{2019}" || scalar == "\u{02BC}"
    }

    fileprivate static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x61...0x7A: false
        case 0x3005...0x3007: false
        case 0...0xBF, 0x02BC, 0x2000...0x206F, 0x3000...0x303F: true
        default: false
        }
    }
}

/// Finds the words of many names as `SearchWords` does, but remembers what each character becomes, since decomposing one
/// takes a microsecond.
package struct NameFolder {
    /// What a character becomes: UTF-8, with a space for what separates words, and `'` for an apostrophe.
    private struct Piece {
        var bytes: [UInt8] = []
        /// Whether its order among its neighbours depends on them (Unicode Standard, section 3.11, "Canonical Ordering").
        var isReordered = false
    }

    /// The words of the last name: UTF-8, with spaces between them. One may occur twice.
    package private(set) var words: [UInt8] = []
    private var pieces: [Unicode.Scalar: Piece] = [:]
    /// The byte that each character of ASCII becomes; it becomes no more than one.
    private let plain = plainBytes

    private static let (space, apostrophe) = (UInt8(ascii: " "), UInt8(ascii: "'"))

    private static let plainBytes: [UInt8] = (0..<0x80).map {
        piece(of: SearchWords.folded(String(Unicode.Scalar($0)))).bytes[0]
    }

    /// Makes a folder that knows no characters yet.
    package init() {}

    /// Finds the words of a name, which is UTF-8.
    package mutating func fold(_ name: UnsafeBufferPointer<UInt8>) {
        words.removeAll(keepingCapacity: true)
        if name.contains(where: { $0 >= 0x80 }) {
            appendCharacters(of: name)
        } else {
            words.append(contentsOf: name)
            let plain = plain
            words.withUnsafeMutableBufferPointer { words in
                for index in words.indices { words[index] = plain[Int(words[index])] }
            }
        }
        guard words.contains(Self.apostrophe) else { return }
        // Once with apostrophes that separate, and once without any.
        let joined = words.filter { $0 != Self.apostrophe }
        words = words.map { $0 == Self.apostrophe ? Self.space : $0 } + [Self.space] + joined
    }

    private mutating func appendCharacters(of name: UnsafeBufferPointer<UInt8>) {
        let name = String(decoding: name, as: UTF8.self)
        for scalar in name.unicodeScalars {
            guard !scalar.isASCII else {
                words.append(plain[Int(scalar.value)])
                continue
            }
            let piece = piece(of: scalar)
            guard !piece.isReordered else {
                words = Self.piece(of: SearchWords.folded(name)).bytes
                return
            }
            words += piece.bytes
        }
    }

    private mutating func piece(of scalar: Unicode.Scalar) -> Piece {
        if let piece = pieces[scalar] { return piece }
        let piece = Self.piece(of: SearchWords.folded(String(scalar)))
        pieces[scalar] = piece
        return piece
    }

    private static func piece(of folded: [Unicode.Scalar]) -> Piece {
        folded.reduce(into: Piece()) { piece, scalar in
            if SearchWords.isApostrophe(scalar) {
                piece.bytes.append(apostrophe)
            } else if SearchWords.isSeparator(scalar) {
                piece.bytes.append(space)
            } else {
                piece.bytes += UTF8.encode(scalar).map { Array($0) } ?? []
                if scalar.properties.canonicalCombiningClass != .notReordered { piece.isReordered = true }
            }
        }
    }
}

/// Checks whether names have the words of a search text.
package struct NameMatcher {
    private let queryWords: [[UInt8]]
    private var folder = NameFolder()

    /// Looks for the words of a search text; without any, no name matches.
    package init(searchText: String) {
        queryWords = SearchWords.words(ofQuery: searchText).map { Array($0.utf8) }
    }

    /// Whether any name can match.
    package var mayMatch: Bool { !queryWords.isEmpty }

    /// Whether each word of the search text begins a word of a name, which is UTF-8.
    package mutating func matches(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        folder.fold(name)
        return mayMatch
            && folder.words.withUnsafeBufferPointer { words in
                queryWords.allSatisfy { Self.isBeginning($0, ofOneOf: words) }
            }
    }

    /// - Parameter words: with spaces between them.
    private static func isBeginning(_ word: [UInt8], ofOneOf words: UnsafeBufferPointer<UInt8>) -> Bool {
        var start = 0
        while words.count - start >= word.count {
            if words[start..<start + word.count].elementsEqual(word) { return true }
            guard let space = words[start...].firstIndex(of: UInt8(ascii: " ")) else { return false }
            start = space + 1
        }
        return false
    }
}

/// The order of texts by their bytes, which for UTF-8 is that of their code points.
package enum ByteOrder {
    /// Less than 0 where the first one comes first, 0 where they are equal.
    package static func compare(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Int
    {
        let common = min(one.count, other.count)
        if common > 0, let left = one.baseAddress, let right = other.baseAddress {
            let order = memcmp(left, right, common)
            if order != 0 { return Int(order) }
        }
        return one.count - other.count
    }
}
