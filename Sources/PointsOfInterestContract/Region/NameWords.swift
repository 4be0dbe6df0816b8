import Foundation

/// All words of a name, also those that begin within a run: the rule of `GET /locations` in `Documentation/api.md`, written
/// down as it reads there, without anything of the server's.
package struct NameWords: Sendable {
    /// Each word's code points.
    package let words: Set<[Unicode.Scalar]>

    package init(_ name: String) {
        let characters = FoldedCharacter.characters(of: name)
        let joined = characters.filter { $0 != .apostrophe }
        words = Set(
            [characters, joined].flatMap { Self.pieces(of: $0) }.flatMap { piece in
                piece[0].isOfRun
                    ? piece.indices.map { FoldedCharacter.plain(piece[$0...]) }
                    : [FoldedCharacter.plain(piece[...]), FoldedCharacter.spelledOut(piece[...])]
            })
    }

    package func match(_ text: String) -> Bool { SearchText(text).finds(self) }

    /// The words of a search text.
    package struct SearchText: Sendable {
        let words: [(plain: [Unicode.Scalar], spelledOut: [Unicode.Scalar])]

        package init(_ text: String) {
            words = NameWords.pieces(of: FoldedCharacter.characters(of: text)).map {
                (FoldedCharacter.plain($0[...]), FoldedCharacter.spelledOut($0[...]))
            }
        }

        package var isEmpty: Bool { words.isEmpty }

        /// Whether each of them begins a word of a name; a text without words finds nothing.
        package func finds(_ name: NameWords) -> Bool {
            !words.isEmpty
                && words.allSatisfy { word in
                    name.words.contains {
                        // Both begin with the same code point. Without optimisation, looking at it first takes a fraction.
                        $0.first == word.plain.first
                            && ($0.starts(with: word.plain) || $0.starts(with: word.spelledOut))
                    }
                }
        }
    }

    /// The characters between separators and apostrophes, cut where runs and other characters meet.
    static func pieces(of characters: [FoldedCharacter]) -> [[FoldedCharacter]] {
        characters.split { $0 == .separator || $0 == .apostrophe }.flatMap { chunk in
            chunk.reduce(into: [[FoldedCharacter]]()) { pieces, character in
                if let last = pieces.last?.last, last.isOfRun == character.isOfRun {
                    pieces[pieces.count - 1].append(character)
                } else {
                    pieces.append([character])
                }
            }
        }
    }
}

/// A character of a folded text.
struct FoldedCharacter: Equatable {
    static let (separator, apostrophe) = (FoldedCharacter(scalar: " "), FoldedCharacter(scalar: "'"))

    let scalar: Unicode.Scalar
    /// What follows it where it is spelled out.
    var addition: Unicode.Scalar?

    /// Without optimisation, looking at where the first run begins takes a fraction.
    var isOfRun: Bool { scalar.value >= 0xE00 && Self.runs.contains { $0.contains(scalar.value) } }

    private static let letters: [Unicode.Scalar: String] = [
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h",
        "ı": "i", "ς": "σ",
    ]
    private static let apostrophes: [Unicode.Scalar] = [
        "'", "\u{2018}", "\u{2019}", "\u{2BB}", "\u{2BC}", "\u{5F3}",
    ]

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
            .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol,
            .modifierSymbol, .otherSymbol, .spaceSeparator, .lineSeparator, .paragraphSeparator, .control:
            true
        default: 0x2000...0x206F ~= scalar.value || scalar == "\u{AD}"
        }
    }

    private static let runs: [ClosedRange<UInt32>] = [
        0xE00...0xEFF, 0x1780...0x17FF, 0x2E80...0x2FDF, 0x3005...0x3007, 0x3040...0x309F, 0x30A1...0x30FA,
        0x30FC...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF,
        0x16FE3...0x16FE3, 0x16FF0...0x16FF1, 0x1AFF0...0x1B16F, 0x20000...0x3FFFF,
    ]

    static func plain(_ characters: ArraySlice<FoldedCharacter>) -> [Unicode.Scalar] {
        characters.map(\.scalar)
    }

    static func spelledOut(_ characters: ArraySlice<FoldedCharacter>) -> [Unicode.Scalar] {
        characters.flatMap { character in [character.scalar] + (character.addition.map { [$0] } ?? []) }
    }

    static func characters(of text: String) -> [FoldedCharacter] {
        // Character by character, so that the order of marks stays.
        var rest = text.unicodeScalars.flatMap {
            String($0).decomposedStringWithCompatibilityMapping.unicodeScalars
        }[...]
        var characters: [FoldedCharacter] = []
        /// Where periods are, which are separators until it is known what is beside them.
        var periods: [Int] = []
        while let scalar = rest.popFirst() {
            let marks = rest.prefix { $0.properties.generalCategory == .nonspacingMark }
            rest = rest.dropFirst(marks.count)
            guard scalar.properties.generalCategory != .nonspacingMark, scalar != "\u{640}" else { continue }
            if scalar == "." { periods.append(characters.count) }
            var made = scalar.properties.lowercaseMapping.unicodeScalars.flatMap(Self.characters(of:))
            let letter = made.last?.scalar
            // The first of both, should it have both.
            if let mark = marks.first(where: { $0 == "\u{308}" || $0 == "\u{30A}" && letter == "a" }),
                let letter, ["a", "o", "u"].contains(letter), made.last?.addition == nil
            {
                made[made.count - 1].addition = mark == "\u{308}" ? "e" : "a"
            }
            characters += made
        }
        let initials = periods.filter {
            isInitial($0 - 1, in: characters) && isInitial($0 + 1, in: characters)
        }
        for index in initials { characters[index] = apostrophe }
        return characters
    }

    /// Whether a character is a letter that stands alone, but for periods.
    private static func isInitial(_ index: Int, in characters: [FoldedCharacter]) -> Bool {
        guard characters.indices.contains(index), characters[index].scalar.value >= 0x61 else { return false }
        return [index - 1, index + 1].allSatisfy {
            !characters.indices.contains($0) || characters[$0] == separator
        }
    }

    private static func characters(of lowercase: Unicode.Scalar) -> [FoldedCharacter] {
        if lowercase == "ø" { return [FoldedCharacter(scalar: "o", addition: "e")] }
        if let plain = letters[lowercase] { return plain.unicodeScalars.map { FoldedCharacter(scalar: $0) } }
        if apostrophes.contains(lowercase) { return [apostrophe] }
        if isSeparator(lowercase) { return [separator] }
        if lowercase.properties.numericType == .decimal, let value = lowercase.properties.numericValue {
            return String(Int(value)).unicodeScalars.map { FoldedCharacter(scalar: $0) }
        }
        // Katakana that Hiragana has, too.
        switch lowercase.value {
        case 0x30A1...0x30F6, 0x30FD...0x30FE:
            return Unicode.Scalar(lowercase.value - 0x60).map { [FoldedCharacter(scalar: $0)] } ?? []
        default: return [FoldedCharacter(scalar: lowercase)]
        }
    }
}
