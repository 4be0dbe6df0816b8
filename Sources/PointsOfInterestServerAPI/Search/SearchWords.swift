import CFolding

/// A word of a search text: UTF-8, folded.
package enum QueryWord: Hashable, Sendable {
    /// A word of the name has to begin with it.
    case word([UInt8])
    /// A word of the name has to begin with one of both: ä, ö, ü, å and ø written plainly, and spelled out.
    case either(plain: [UInt8], spelledOut: [UInt8])
    /// A run of characters of a script without spaces, which the name has to contain.
    case run([UInt8])

    /// Whether it is a run, or has so many letters at least.
    package func isRun(orHas letterCount: Int) -> Bool {
        switch self {
        case .run: true
        case .word(let form), .either(let form, _): form.count { $0 & 0xC0 != 0x80 } >= letterCount
        }
    }
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

    /// The words of a search text without what means nothing there: an article at the beginning, words such as "near me" at the end,
    /// and an "and" between two others; nil where there is none of it.
    package static func reduced(_ words: [QueryWord]) -> [QueryWord]? {
        var reduced = words[...]
        if let ending = endings.first(where: { $0.count < words.count && words.suffix($0.count) == $0[...] })
        {
            reduced.removeLast(ending.count)
        }
        if reduced.count > 1, articles.contains(reduced[0]) { reduced.removeFirst() }
        let inner = reduced.dropFirst().dropLast().filter { !conjunctions.contains($0) }
        let rest = Array(reduced.prefix(1)) + inner + reduced.dropFirst().suffix(1)
        return rest.count < words.count ? rest : nil
    }

    private static let articles = Set(
        orderedWords(ofQuery: "the der die das le la les el"))
    private static let conjunctions = Set(orderedWords(ofQuery: "and und et y"))
    /// The longest of several that a text ends with comes first.
    private static let endings = [
        "near me", "around me", "nearby", "in der Nähe", "in meiner Nähe", "près de moi", "à proximité",
        "cerca de mí", "cerca",
    ].map { orderedWords(ofQuery: $0) }

    private static func queryWord(_ word: ArraySlice<UInt8>) -> QueryWord {
        if isRun(word.span) { return .run(Array(word)) }
        guard word.contains(where: FoldedMark.isSpelling) else { return .word(Array(word)) }
        var (plain, spelledOut): ([UInt8], [UInt8]) = ([], [])
        FoldedMark.write(word, isSpelledOut: false, to: &plain)
        FoldedMark.write(word, isSpelledOut: true, to: &spelledOut)
        return .either(plain: plain, spelledOut: spelledOut)
    }

    // MARK: - Folding

    /// What each character becomes, one after the other: UTF-8, with the marks of `FoldedMark`.
    static func folded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars { fold(scalar, into: &bytes) }
        resolvePeriods(in: &bytes)
        return bytes
    }

    /// The byte that each character of ASCII becomes; it becomes no more than one.
    static let plainBytes: [UInt8] = (0...0x7F as ClosedRange<UInt8>).map { character in
        var bytes: [UInt8] = []
        fold(Unicode.Scalar(character), into: &bytes)
        return bytes[0]
    }

    /// Makes apostrophes of the periods between initials, as in "U.S.", and separators of the others.
    static func resolvePeriods(in bytes: inout [UInt8]) {
        guard bytes.contains(FoldedMark.period) else { return }
        let between = bytes.indices.filter {
            bytes[$0] == FoldedMark.period && isInitial(endingAt: $0, in: bytes)
                && isInitial(beginningAt: $0 + 1, in: bytes)
        }
        for index in bytes.indices where bytes[index] == FoldedMark.period { bytes[index] = FoldedMark.space }
        for index in between { bytes[index] = FoldedMark.apostrophe }
    }

    /// Whether one letter alone stands before an index: behind nothing, a separator, or the period of another initial.
    private static func isInitial(endingAt end: Int, in bytes: [UInt8]) -> Bool {
        var start = end - 1
        if start > 0, FoldedMark.isSpelling(bytes[start]) { start -= 1 }
        while start > 0, bytes[start] & 0xC0 == 0x80 { start -= 1 }
        guard start >= 0, isLetter(bytes[start]) else { return false }
        return start == 0 || bytes[start - 1] == FoldedMark.space || bytes[start - 1] == FoldedMark.period
    }

    private static func isInitial(beginningAt start: Int, in bytes: [UInt8]) -> Bool {
        guard start < bytes.count, isLetter(bytes[start]) else { return false }
        // Only a slice of an array has a span on all systems.
        let slice = bytes[...]
        var end = characterEnd(in: slice.span, from: start)
        if end < bytes.count, FoldedMark.isSpelling(bytes[end]) { end += 1 }
        return end == bytes.count || bytes[end] == FoldedMark.space || bytes[end] == FoldedMark.period
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") }

    /// Appends what a character becomes behind those before it.
    static func fold(_ scalar: Unicode.Scalar, into bytes: inout [UInt8]) {
        if hangulSyllables.contains(scalar.value) { return appendJamo(scalar.value, to: &bytes) }
        var count = 0
        guard let text = poi_fold(scalar.value, &count) else {
            bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            return
        }
        switch (count > 0 ? text[0] : nil, bytes.last) {
        case (FoldedMark.diaeresis?, let letter?):
            if [UInt8(ascii: "a"), UInt8(ascii: "o"), UInt8(ascii: "u")].contains(letter) {
                bytes.append(FoldedMark.spelledE)
            }
        case (FoldedMark.ring?, UInt8(ascii: "a")?): bytes.append(FoldedMark.spelledA)
        case (FoldedMark.diaeresis?, nil), (FoldedMark.ring?, _): break
        default: for index in 0..<count { bytes.append(text[index]) }
        }
    }

    private static let hangulSyllables: ClosedRange<UInt32> = 0xAC00...0xD7A3

    /// Takes a Hangul syllable apart (Unicode Standard, section 3.12, "Hangul Syllable Decomposition").
    private static func appendJamo(_ syllable: UInt32, to bytes: inout [UInt8]) {
        let number = syllable - hangulSyllables.lowerBound
        let parts = [0x1100 + number / 588, 0x1161 + number % 588 / 28, 0x11A7 + number % 28]
        for part in parts.prefix(number % 28 == 0 ? 2 : 3) {
            bytes += Unicode.Scalar(part).flatMap { UTF8.encode($0) } ?? UTF8.encodedReplacementCharacter
        }
    }
}

/// What bytes of a folded text mean besides UTF-8 of letters and digits.
package enum FoldedMark {
    package static let space = UInt8(ascii: " ")
    static let apostrophe = UInt8(ascii: "'")
    /// A diaeresis, or a ring, of the letter before, where that is a character by itself; only in `CFolding`.
    fileprivate static let (diaeresis, ring): (UInt8, UInt8) = (5, 6)
    /// A period, until it is known whether it stands between initials.
    fileprivate static let period: UInt8 = 7
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
        return isOfRun(character(in: word, at: 0))
    }

    /// The first byte of the first character that belongs to a run.
    package static let firstByteOfRuns: UInt8 = 0xE0

    static func hasRuns(_ bytes: [UInt8]) -> Bool {
        let slice = bytes[...]
        for index in bytes.indices where bytes[index] >= firstByteOfRuns {
            if isOfRun(character(in: slice.span, at: index)) { return true }
        }
        return false
    }

    /// The character of three or four bytes at an index.
    private static func character(in bytes: borrowing Span<UInt8>, at index: Int) -> UInt32 {
        var value = UInt32(bytes[index] & (bytes[index] < 0xF0 ? 0x0F : 0x07))
        for next in index + 1..<characterEnd(in: bytes, from: index) {
            value = value << 6 | UInt32(bytes[next] & 0x3F)
        }
        return value
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
