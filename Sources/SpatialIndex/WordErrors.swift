import PointsOfInterestServerAPI

/// Looking up the words that differ by one error from another one, see `SearchError`.
///
/// An error leaves one half untouched, or swaps the two letters in the middle. Where few words have such a half, they are looked
/// through. Where many have, those that begin with the letters before an error are looked through not one by one but by their
/// next letter: if that is the wrong one, it is known what has to follow. That is a few lookups for each letter that occurs
/// there, however many words there are. An error in the first letter is then looked for from the words' ends.
extension WordColumns {
    /// As many words with the same half are compared one by one, and as many with the same letter.
    private static let fewWithHalf = 64, fewWithLetter = 8

    /// Adds the words that differ by one error from a word of four letters or more; none for a shorter one. Some are added more than
    /// once.
    ///
    /// - Returns: how many words were compared.
    func findWordsWithError(_ word: UnsafeBufferPointer<UInt8>, _ found: inout [UInt32]) -> Int {
        let letters = word.indices.filter { word[$0] & 0xC0 != 0x80 } + [word.count]
        let half = (letters.count - 1) / 2
        guard letters.count > SearchError.minimumLetterCount else { return 0 }
        var compared = letters.count
        let sameEnd = rangeByEnds(endingWith: UnsafeBufferPointer(rebasing: word[letters[half]...]))
        if sameEnd.count <= Self.fewWithHalf {
            compared += sameEnd.count
            for index in sameEnd
            where SearchError.isOne(between: word.span, and: self.word(byEnds[index]).span) {
                found.append(byEnds[index])
            }
        } else {
            for tail in [word, UnsafeBufferPointer(rebasing: word[letters[1]...])] {
                compared += findWords(ofOneLetterBefore: tail, butNot: word, &found)
            }
        }
        var words = 0..<UInt32(sorted.count)
        for letter in letters.indices {
            let depth = letters[letter]
            if letter > 0 {
                words = sorted.words(
                    in: words, at: letters[letter - 1], beginningWith: word[letters[letter - 1]..<depth])
            }
            guard !words.isEmpty else { break }
            if letter >= half, words.count <= Self.fewWithHalf {
                compared += words.count
                for number in words where SearchError.isOne(between: word.span, and: self.word(number).span) {
                    found.append(number)
                }
                break
            }
            let isOpen = letter >= half || sameEnd.count > Self.fewWithHalf
            if letter < letters.count - 2, isOpen || letter == half - 1 {
                findSwapped(letter, of: word, letters, in: words, &found)
            }
            if isOpen { compared += findWords(withErrorIn: letter, of: word, letters, in: words, &found) }
        }
        return compared
    }

    /// Adds the words that begin with a word of five letters or more but for one error behind its first letter; none for a shorter
    /// one.
    ///
    /// - Returns: how many words were compared.
    func findWordsBegunWithError(_ word: UnsafeBufferPointer<UInt8>, _ found: inout [WordNumbers]) -> Int {
        let letters = word.indices.filter { word[$0] & 0xC0 != 0x80 } + [word.count]
        guard letters.count > SearchError.minimumLetterCountOfBeginnings else { return 0 }
        return sorted.findBeginnings(word, letters[...], &found)
    }

    /// Adds the words that differ from a word of eight letters or more by at most two errors behind its first letter; none for a
    /// shorter one.
    ///
    /// Either the first half has at most one of the errors, or what follows it has none, but for its first letter, which may be
    /// swapped with the last one of that half.
    ///
    /// - Returns: how many words were compared.
    func findWordsWithTwoErrors(_ word: UnsafeBufferPointer<UInt8>, _ found: inout [WordNumbers]) -> Int {
        let letters = word.indices.filter { word[$0] & 0xC0 != 0x80 } + [word.count]
        guard letters.count > SearchError.minimumLetterCountOfTwo else { return 0 }
        let half = (letters.count - 1) / 2
        var ranges: [WordNumbers] = []
        var compared = sorted.findBeginnings(
            UnsafeBufferPointer(rebasing: word[..<letters[half]]), letters[...half], &ranges)
        func compare(_ number: UInt32) {
            compared += 1
            let other = self.word(number)
            guard other.prefix(letters[1]).elementsEqual(word[..<letters[1]]) else { return }
            if SearchError.isAtMost(2, between: word.span, and: other.span) {
                found.append(WordNumbers(number))
            }
        }
        for words in WordNumbers.merged(ranges) { words.range.forEach(compare) }
        let sameEnd = rangeByEnds(endingWith: UnsafeBufferPointer(rebasing: word[letters[half + 1]...]))
        for index in sameEnd { compare(byEnds[index]) }
        return compared
    }

    private func findSwapped(
        _ letter: Int, of word: UnsafeBufferPointer<UInt8>, _ letters: [Int], in words: Range<UInt32>,
        _ found: inout [UInt32]
    ) {
        let (start, next, end) = (letters[letter], letters[letter + 1], letters[letter + 2])
        guard !word[start..<next].elementsEqual(word[next..<end]) else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: word.count - start) { tail in
            var index = 0
            for part in [next..<end, start..<next, end..<word.count] {
                for byte in word[part] {
                    tail[index] = byte
                    index += 1
                }
            }
            let tail = UnsafeBufferPointer(tail)
            if let number = sorted.word(in: words, at: start, thatIs: tail) { found.append(number) }
        }
    }

    /// Adds the words that have an error in a letter, or a letter more before it.
    ///
    /// - Parameters:
    ///   - letter: its number; that of the end for a letter more there.
    ///   - words: those that begin with the letters before it.
    /// - Returns: how many words were compared.
    private func findWords(
        withErrorIn letter: Int, of word: UnsafeBufferPointer<UInt8>, _ letters: [Int],
        in words: Range<UInt32>, _ found: inout [UInt32]
    ) -> Int {
        let depth = letters[letter]
        let withMore = UnsafeBufferPointer(rebasing: word[depth...])
        // Behind its end there is no letter that may be missing, or another one.
        let end = letter < letters.count - 1 ? letters[letter + 1] : nil
        let withOther = UnsafeBufferPointer(rebasing: word[(end ?? depth)...])
        if end != nil, let number = sorted.word(in: words, at: depth, thatIs: withOther) {
            found.append(number)
        }
        guard letter > 0 else { return 1 }
        return sorted.forEachLetter(of: words, at: depth) { letterEnd, words, other in
            let isOther = end.map { !other.elementsEqual(word[depth..<$0]) } ?? false
            if words.count <= Self.fewWithLetter {
                for number in words {
                    let rest = UnsafeBufferPointer(rebasing: sorted.word(number)[letterEnd...])
                    if rest.isSame(as: withMore) || isOther && rest.isSame(as: withOther) {
                        found.append(number)
                    }
                }
                return
            }
            if let number = sorted.word(in: words, at: letterEnd, thatIs: withMore) { found.append(number) }
            if isOther, let number = sorted.word(in: words, at: letterEnd, thatIs: withOther) {
                found.append(number)
            }
        }
    }

    /// Adds the words that are a letter and then `tail`.
    ///
    /// - Returns: how many words were compared.
    private func findWords(
        ofOneLetterBefore tail: UnsafeBufferPointer<UInt8>, butNot other: UnsafeBufferPointer<UInt8>,
        _ found: inout [UInt32]
    ) -> Int {
        let range = rangeByEnds(endingWith: tail)
        var (index, compared) = (range.lowerBound, 0)
        while index < range.upperBound {
            let word = word(byEnds[index])
            let head = word.dropLast(tail.count)
            guard !head.isEmpty else {
                index += 1
                continue
            }
            var start = head.count - 1
            while start > 0, head[start] & 0xC0 == 0x80 { start -= 1 }
            // The shortest of those with the same letter comes first.
            if start == 0, !word.isSame(as: other) { found.append(byEnds[index]) }
            let letter = head[start...]
            index = Galloping.end(of: range, from: index) {
                self.word(byEnds[$0]).dropLast(tail.count).suffix(letter.count).elementsEqual(letter)
            }
            compared += 4
        }
        return compared
    }
}

extension SortedWords {
    /// Calls `body` with the end of each letter of a text and the words that begin with the text up to there, and whether the first
    /// of them is nothing else, as long as there are any.
    func forEachBeginning(
        of text: [UInt8], _ body: (_ end: Int, _ words: Range<UInt32>, _ isWord: Bool) -> Void
    ) {
        var (words, start) = (0..<UInt32(count), 0)
        while start < text.count {
            var end = start + 1
            while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
            words = text.withUnsafeBufferPointer {
                self.words(in: words, at: start, beginningWith: $0[start..<end])
            }
            guard !words.isEmpty else { return }
            body(end, words, word(words.lowerBound).count == end)
            start = end
        }
    }

    /// Adds the words that begin with a text but for at most one error behind its first letter.
    ///
    /// - Parameter letters: where each of its letters begins, and where the last one ends.
    /// - Returns: how many words were compared.
    fileprivate func findBeginnings(
        _ text: UnsafeBufferPointer<UInt8>, _ letters: ArraySlice<Int>, _ found: inout [WordNumbers]
    ) -> Int {
        func add(_ words: Range<UInt32>) { if !words.isEmpty { found.append(WordNumbers(words)) } }
        var words = words(in: 0..<UInt32(count), at: 0, beginningWith: text[..<letters[1]])
        var compared = 1
        for letter in 1..<letters.count - 1 where !words.isEmpty {
            let (depth, next) = (letters[letter], letters[letter + 1])
            // A letter too many, or two that are swapped.
            add(self.words(in: words, at: depth, beginningWith: text[next...]))
            if letter + 2 < letters.count {
                let swapped =
                    Array(text[next..<letters[letter + 2]]) + text[depth..<next]
                    + text[letters[letter + 2]...]
                swapped.withUnsafeBufferPointer {
                    add(self.words(in: words, at: depth, beginningWith: $0[...]))
                }
            }
            // Another letter, or one that is missing before this one.
            compared += forEachLetter(of: words, at: depth) { end, words, _ in
                add(self.words(in: words, at: end, beginningWith: text[next...]))
                add(self.words(in: words, at: end, beginningWith: text[depth...]))
            }
            words = self.words(in: words, at: depth, beginningWith: text[depth..<next])
        }
        add(words)
        return compared
    }

    fileprivate func words(
        in words: Range<UInt32>, at depth: Int, beginningWith letter: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Range<UInt32> {
        let first = firstWord(in: words) { compare($0, at: depth, with: letter) < 0 }
        return first..<firstWord(in: first..<words.upperBound) { compare($0, at: depth, with: letter) == 0 }
    }

    /// The one of some words with an equal beginning that is nothing but this behind it; nil where there is none.
    fileprivate func word(in words: Range<UInt32>, at depth: Int, thatIs tail: UnsafeBufferPointer<UInt8>)
        -> UInt32?
    {
        let number = firstWord(in: words) { isBefore($0, at: depth, tail) }
        guard number < words.upperBound else { return nil }
        return UnsafeBufferPointer(rebasing: word(number).dropFirst(depth)).isSame(as: tail) ? number : nil
    }

    /// Whether what a word has behind some bytes is before a text. Mostly the first bytes tell.
    @inline(__always)
    private func isBefore(_ number: UInt32, at depth: Int, _ tail: UnsafeBufferPointer<UInt8>) -> Bool {
        let word = word(number)
        let count = word.count - depth
        for index in 0..<min(count, tail.count) where word[depth + index] != tail[index] {
            return word[depth + index] < tail[index]
        }
        return count < tail.count
    }

    /// Calls `body` with each letter that some words with an equal beginning have behind it: its end, the words, and itself.
    ///
    /// - Returns: how many words were compared.
    fileprivate func forEachLetter(
        of words: Range<UInt32>, at depth: Int,
        _ body: (_ end: Int, _ words: Range<UInt32>, _ letter: Slice<UnsafeBufferPointer<UInt8>>) -> Void
    ) -> Int {
        var (number, compared) = (words.lowerBound, 0)
        if !words.isEmpty, word(number).count == depth { number += 1 }
        while number < words.upperBound {
            let word = self.word(number)
            let end = SearchWords.characterEnd(in: word.span, from: depth)
            let letter = word[depth..<end]
            let next = Galloping.end(of: Int(words.lowerBound)..<Int(words.upperBound), from: Int(number)) {
                compare(UInt32($0), at: depth, with: letter) == 0
            }
            body(end, number..<UInt32(next), letter)
            number = UInt32(next)
            compared += 4
        }
        return compared
    }

    /// Compares what a word has behind some bytes, in the length of a letter, with that letter.
    private func compare(_ number: UInt32, at depth: Int, with letter: Slice<UnsafeBufferPointer<UInt8>>)
        -> Int
    {
        let word = self.word(number)
        for index in 0..<letter.count {
            guard depth + index < word.count else { return -1 }
            let difference = Int(word[depth + index]) - Int(letter[letter.startIndex + index])
            if difference != 0 { return difference }
        }
        return 0
    }

    private func firstWord(in words: Range<UInt32>, where isBefore: (UInt32) -> Bool) -> UInt32 {
        let range = Int(words.lowerBound)..<Int(words.upperBound)
        return UInt32(range.firstIndex(behind: { isBefore(UInt32($0)) }))
    }
}

/// Looking for the end of what is alike, from its beginning on with steps that double.
private enum Galloping {
    static func end(of range: Range<Int>, from start: Int, while isAlike: (Int) -> Bool) -> Int {
        var (low, step) = (start, 1)
        while low + step < range.upperBound, isAlike(low + step) {
            low += step
            step *= 2
        }
        return (low + 1..<min(low + step, range.upperBound)).firstIndex(behind: isAlike)
    }
}
