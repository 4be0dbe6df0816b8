import CSystem

/// Finds the words of many names as `SearchWords` says.
package struct NameFolder {
    /// The words of the last name: UTF-8, each behind a space or a mark that says what it is, see `FoldedMark`; the first one
    /// may have nothing before it. One may occur twice. Those that begin within a run aren't written out: a run is one word
    /// here, and nothing else is in it.
    package private(set) var words: [UInt8] = []
    /// The name, while its forms are written.
    private var marked: [UInt8] = []
    private let plain = SearchWords.plainBytes

    package init() {}

    /// Finds the words of a name, which is UTF-8.
    package mutating func fold(_ name: borrowing Span<UInt8>) {
        words.removeAll(keepingCapacity: true)
        var isPlain = true
        for index in name.indices {
            guard name[index] < 0x80 else {
                isPlain = false
                break
            }
            words.append(plain[Int(name[index])])
        }
        if !isPlain { foldCharacters(of: name) }
        SearchWords.resolvePeriods(in: &words)
        let hasRuns = !isPlain && SearchWords.hasRuns(words)
        if words.contains(FoldedMark.apostrophe) || !isPlain && words.contains(where: FoldedMark.isSpelling) {
            writeAllForms(hasRuns: hasRuns)
        } else if hasRuns {
            words = SearchWords.separatingRuns(in: words)
        }
    }

    private mutating func foldCharacters(of name: borrowing Span<UInt8>) {
        words.removeAll(keepingCapacity: true)
        var bytes: [UInt8] = []
        for index in name.indices { bytes.append(name[index]) }
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            SearchWords.fold(scalar, into: &words)
        }
    }

    /// Writes each word with an apostrophe as those that it separates, and as one word without; and each word with ä, ö, ü,
    /// å or ø plainly, and spelled out.
    private mutating func writeAllForms(hasRuns: Bool) {
        marked.removeAll(keepingCapacity: true)
        swap(&words, &marked)
        for word in marked.split(separator: FoldedMark.space) {
            writeForms(of: word, behind: FoldedMark.space, FoldedMark.alternative, hasRuns: hasRuns)
            guard word.contains(FoldedMark.apostrophe) else { continue }
            let joined = word.filter { $0 != FoldedMark.apostrophe }
            writeForms(of: joined[...], behind: FoldedMark.joined, FoldedMark.joined, hasRuns: hasRuns)
        }
    }

    /// Writes the words that apostrophes and the ends of runs separate, each behind a mark, and each that can be spelled out also
    /// so, behind another one.
    private mutating func writeForms(
        of word: ArraySlice<UInt8>, behind mark: UInt8, _ markOfSpelledOut: UInt8, hasRuns: Bool
    ) {
        var separated = Array(word)
        for index in separated.indices where separated[index] == FoldedMark.apostrophe {
            separated[index] = FoldedMark.space
        }
        if hasRuns { separated = SearchWords.separatingRuns(in: separated) }
        for word in separated.split(separator: FoldedMark.space) {
            words.append(mark)
            FoldedMark.write(word, isSpelledOut: false, to: &words)
            guard word.contains(where: FoldedMark.isSpelling) else { continue }
            words.append(markOfSpelledOut)
            FoldedMark.write(word, isSpelledOut: true, to: &words)
        }
    }
}

/// Finds which words of a search text begin words of other texts.
package struct WordMatcher {
    private let queryWords: [QueryWord]
    /// The words that a text in ASCII may have: each way of writing one, one after the other, with its bit and where it ends.
    private var plainForms: [UInt8] = []
    private var plainFormEnds: [(bit: UInt64, end: Int)] = []
    private let plain = SearchWords.plainBytes
    private var folder = NameFolder()

    /// Looks for some words, at most 64.
    package init(_ words: [QueryWord]) {
        queryWords = words
        for (index, word) in words.enumerated() {
            switch word {
            case .word(let word): addPlainForm(word, index)
            case .either(let plain, let spelledOut):
                addPlainForm(plain, index)
                addPlainForm(spelledOut, index)
            case .run: break
            }
        }
    }

    private mutating func addPlainForm(_ form: [UInt8], _ index: Int) {
        guard form.allSatisfy({ $0 < 0x80 }) else { return }
        plainForms += form
        plainFormEnds.append((1 << UInt64(index), plainForms.count))
    }

    /// A bit for each word of the search text that begins a word of a text, which is UTF-8.
    package mutating func mask(of text: borrowing Span<UInt8>) -> UInt64 {
        // What apostrophes join, or the periods of initials, is left to the folder.
        var isPlain = true
        for index in text.indices {
            switch text[index] {
            case 0x80..., UInt8(ascii: "'"): isPlain = false
            case UInt8(ascii: "."):
                let next = index + 1
                if next < text.count, text[next] >= 0x80 || plain[Int(text[next])] > FoldedMark.space {
                    isPlain = false
                }
            default: break
            }
        }
        if isPlain { return plainMask(of: text) }
        folder.fold(text)
        var mask: UInt64 = 0
        for (index, word) in queryWords.enumerated() where Self.matches(word, folder.words) {
            mask |= 1 << UInt64(index)
        }
        return mask
    }

    /// The same for ASCII without apostrophes, which needn't be folded.
    private func plainMask(of text: borrowing Span<UInt8>) -> UInt64 {
        var (mask, isBehindSpace): (UInt64, Bool) = (0, true)
        for index in text.indices {
            let isSpace = plain[Int(text[index])] <= FoldedMark.space
            if isBehindSpace, !isSpace {
                var start = 0
                for form in plainFormEnds {
                    let length = form.end - start
                    var count = 0
                    while count < length, index + count < text.count,
                        plain[Int(text[index + count])] == plainForms[start + count]
                    {
                        count += 1
                    }
                    if count == length { mask |= form.bit }
                    start = form.end
                }
            }
            isBehindSpace = isSpace
        }
        return mask
    }

    /// Whether a word begins one of a name's.
    private static func matches(_ queryWord: QueryWord, _ words: [UInt8]) -> Bool {
        switch queryWord {
        case .word(let word): isBeginning(word, ofOneOf: words)
        case .either(let plain, let spelledOut):
            isBeginning(plain, ofOneOf: words) || isBeginning(spelledOut, ofOneOf: words)
        case .run(let run): poi_contains(words, words.count, run, run.count)
        }
    }

    private static func isBeginning(_ word: [UInt8], ofOneOf words: [UInt8]) -> Bool {
        var start = 0
        while words.count - start >= word.count {
            var length = 0
            while length < word.count, words[start + length] == word[length] { length += 1 }
            if length == word.count { return true }
            start += length
            while start < words.count, !FoldedMark.separates(words[start]) { start += 1 }
            start += 1
        }
        return false
    }
}
