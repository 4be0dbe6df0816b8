import Foundation

/// A word of a search text: UTF-8, folded.
package enum QueryWord: Hashable, Sendable {
    /// A word of the name has to begin with it.
    case word([UInt8])
    /// A word of the name has to begin with one of both: ä, ö, ü, å and ø written plainly, and spelled out.
    case either(plain: [UInt8], spelledOut: [UInt8])
    /// A run of characters of a script without spaces, which the name has to contain.
    case run([UInt8])
}

/// The words of names and search texts, by which a search finds places: `Documentation/api.md` has the rule.
///
/// A text finds a name if each word of the text begins a word of the name. All comparisons are by code points.
package enum SearchWords {
    /// The words of a search text, each once; apostrophes separate.
    package static func words(ofQuery text: String) -> [QueryWord] {
        var seen: Set<QueryWord> = []
        return orderedWords(ofQuery: text)
            .map { word in
                // What begins with the word spelled out begins with the plain word, too.
                guard case .either(let plain, let spelledOut) = word, spelledOut.starts(with: plain) else {
                    return word
                }
                return .word(plain)
            }
            .filter { seen.insert($0).inserted }
    }

    /// The words of a search text in their order, each as often as it is there, and in both ways of writing it.
    package static func orderedWords(ofQuery text: String) -> [QueryWord] {
        var bytes = folded(text).map { $0 == FoldedMark.apostrophe ? FoldedMark.space : $0 }
        if hasRuns(bytes) { bytes = separatingRuns(in: bytes) }
        return bytes.split(separator: FoldedMark.space).map(queryWord)
    }

    /// The words of a search text as they are written there, in the order of `orderedWords`, without what separates them.
    ///
    /// Takes time that grows with the square of the text's length.
    package static func written(in text: String) -> [String] {
        let scalars = Array(text.unicodeScalars)
        func part(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }
        var starts: [Int] = []
        for end in scalars.indices {
            let count = orderedWords(ofQuery: part(0..<end + 1)).count
            while starts.count < count { starts.append(end) }
        }
        return starts.indices.map { word in
            let start = starts[word]
            var end = word + 1 < starts.count ? max(starts[word + 1], start + 1) : scalars.count
            while end > start + 1, scalars[end - 1].properties.generalCategory != .nonspacingMark,
                orderedWords(ofQuery: part(end - 1..<end)).isEmpty
            {
                end -= 1
            }
            return part(start..<end)
        }
    }

    private static func queryWord(_ word: ArraySlice<UInt8>) -> QueryWord {
        if isRun(word.span) { return .run(Array(word)) }
        guard word.contains(where: FoldedMark.isSpelling) else { return .word(Array(word)) }
        var (plain, spelledOut): ([UInt8], [UInt8]) = ([], [])
        FoldedMark.write(word, isSpelledOut: false, to: &plain)
        FoldedMark.write(word, isSpelledOut: true, to: &spelledOut)
        return .either(plain: plain, spelledOut: spelledOut)
    }

    // MARK: - Folding

    /// Compatibility decomposition (NFKD), without combining marks, in lower case, and letters that have no
    /// decomposition written plainly: UTF-8, with the marks of `FoldedMark`.
    static func folded(_ text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.map { plainBytes[Int($0)] } }
        var bytes: [UInt8] = []
        for scalar in text.decomposedStringWithCompatibilityMapping.unicodeScalars {
            guard scalar.properties.generalCategory != .nonspacingMark else {
                // Other marks may stand between it and its letter.
                if let mark = spelling(of: scalar, behind: bytes.last) { bytes.append(mark) }
                continue
            }
            for lowercase in scalar.properties.lowercaseMapping.unicodeScalars {
                bytes += foldedLowercase(lowercase)
            }
        }
        return bytes
    }

    /// The byte that each character of ASCII becomes; it becomes no more than one.
    static let plainBytes: [UInt8] = (0..<0x80).map {
        foldedLowercase(Unicode.Scalar($0 | (0x41...0x5A ~= $0 ? 0x20 : 0)))[0]
    }

    private static func foldedLowercase(_ scalar: Unicode.Scalar) -> [UInt8] {
        if let letters = plainLetters[scalar] { return letters }
        if isApostrophe(scalar) { return [FoldedMark.apostrophe] }
        return isSeparator(scalar)
            ? [FoldedMark.space] : Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private static let plainLetters: [Unicode.Scalar: [UInt8]] = [
        "ß": Array("ss".utf8), "æ": Array("ae".utf8), "œ": Array("oe".utf8), "þ": Array("th".utf8),
        "đ": Array("d".utf8), "ð": Array("d".utf8), "ł": Array("l".utf8), "ħ": Array("h".utf8),
        "ı": Array("i".utf8), "ς": Array("σ".utf8), "ø": [UInt8(ascii: "o"), FoldedMark.spelledE],
    ]

    /// Whether a mark makes ä, ö, ü or å of a letter, or of the one that it follows after other marks.
    private static func spelling(of mark: Unicode.Scalar, behind letter: UInt8?) -> UInt8? {
        switch (mark, letter) {
        case ("\u{308}", UInt8(ascii: "a")), ("\u{308}", UInt8(ascii: "o")), ("\u{308}", UInt8(ascii: "u")):
            FoldedMark.spelledE
        case ("\u{30A}", UInt8(ascii: "a")): FoldedMark.spelledA
        default: nil
        }
    }

    /// Whether what a character becomes depends on those before it, by its order among marks (Unicode Standard, section
    /// 3.11, "Canonical Ordering") or by the letter that it follows.
    static func isContextual(_ scalar: Unicode.Scalar) -> Bool {
        let decomposed = String(scalar).decomposedStringWithCompatibilityMapping.unicodeScalars
        return decomposed.contains {
            $0.properties.generalCategory != .nonspacingMark
                && $0.properties.canonicalCombiningClass != .notReordered
        }
            || decomposed.prefix { $0.properties.generalCategory == .nonspacingMark }
                .contains { $0 == "\u{308}" || $0 == "\u{30A}" }
    }

    /// Whether it is an apostrophe. In search texts it separates words, in names it also joins them.
    private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "'" || scalar == "\u{2019}" || scalar == "\u{02BC}"
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x61...0x7A: false
        case 0x3005...0x3007: false
        case 0...0xBF, 0x02BC, 0x2000...0x206F, 0x3000...0x303F, 0x30A0, 0x30FB: true
        default: false
        }
    }
}

/// What bytes of a folded text mean besides UTF-8 of letters and digits.
package enum FoldedMark {
    package static let space = UInt8(ascii: " ")
    static let apostrophe = UInt8(ascii: "'")
    /// Before a word of a name: another way to write the word before it.
    package static let alternative: UInt8 = 3
    /// Before a word of a name: the words before it, which apostrophes separate, written as one.
    package static let joined: UInt8 = 4

    /// Whether it stands between two words of a name.
    static func separates(_ byte: UInt8) -> Bool { byte <= space }

    /// Behind a letter: an e, or an a, follows it where it is spelled out.
    static let (spelledE, spelledA): (UInt8, UInt8) = (1, 2)

    static func isSpelling(_ byte: UInt8) -> Bool { byte <= spelledA }

    /// Writes a word without marks.
    static func write(_ word: some Sequence<UInt8>, isSpelledOut: Bool, to bytes: inout [UInt8]) {
        for byte in word {
            switch byte {
            case spelledE: if isSpelledOut { bytes.append(UInt8(ascii: "e")) }
            case spelledA: if isSpelledOut { bytes.append(UInt8(ascii: "a")) }
            default: bytes.append(byte)
            }
        }
    }
}

/// Runs: scripts that are written without spaces, so that a word may begin at any character.
extension SearchWords {
    /// Whether a character of a folded text belongs to a run.
    private static func isOfRun(_ value: UInt32) -> Bool {
        switch value {
        case 0x0E00...0x0EFF: true  // Thai, Lao
        case 0x1780...0x17FF: true  // Khmer
        case 0x2E80...0x2FDF, 0x3005...0x3007, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF: true  // Han
        case 0x16FE3, 0x16FF0...0x16FF1, 0x2_0000...0x3_FFFF: true  // Han
        case 0x3040...0x309F, 0x30A1...0x30FA, 0x30FC...0x30FF, 0x31F0...0x31FF: true  // Hiragana, Katakana
        case 0x1_AFF0...0x1_B16F: true  // Hiragana, Katakana
        default: false
        }
    }

    /// Whether a word of a folded text is a run: its first character tells, since a run and others are never one word.
    package static func isRun(_ word: borrowing Span<UInt8>) -> Bool {
        guard word.count >= 3, word[0] >= firstByteOfRuns else { return false }
        var value = UInt32(word[0] & (word[0] < 0xF0 ? 0x0F : 0x07))
        for index in 1..<characterEnd(in: word, from: 0) { value = value << 6 | UInt32(word[index] & 0x3F) }
        return isOfRun(value)
    }

    /// The first byte of the first character that belongs to a run.
    package static let firstByteOfRuns: UInt8 = 0xE0

    static func hasRuns(_ bytes: [UInt8]) -> Bool {
        bytes.contains { $0 >= firstByteOfRuns }
            && String(decoding: bytes, as: UTF8.self).unicodeScalars.contains { isOfRun($0.value) }
    }

    /// The same bytes with a space wherever a run begins or ends beside other characters.
    static func separatingRuns(in bytes: [UInt8]) -> [UInt8] {
        var separated: [UInt8] = []
        separated.reserveCapacity(bytes.count + 8)
        var wasOfRun: Bool?
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            let isSpace = scalar == " "
            let isOfRun = isOfRun(scalar.value)
            if !isSpace, let wasOfRun, wasOfRun != isOfRun { separated.append(FoldedMark.space) }
            separated += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            wasOfRun = isSpace ? nil : isOfRun
        }
        return separated
    }

    /// Where each two neighbouring characters of a run are, and last its last character alone: what an index keeps of it.
    package static func parts(ofRun run: borrowing Span<UInt8>) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, next) = (0, characterEnd(in: run, from: 0))
        while next < run.count {
            let end = characterEnd(in: run, from: next)
            parts.append(start..<end)
            (start, next) = (next, end)
        }
        return parts + [start..<run.count]
    }

    package static func isPart(ofRunWithMore part: borrowing Span<UInt8>) -> Bool {
        characterEnd(in: part, from: 0) < part.count && isRun(part)
    }

    package static func characterEnd(in bytes: borrowing Span<UInt8>, from start: Int) -> Int {
        var end = min(start + 1, bytes.count)
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }
}
