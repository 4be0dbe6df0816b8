import PointsOfInterestServerAPI

extension RelevanceWords {
    /// The words of the text that a name has.
    func mask(of name: Range<Int>) -> Mask {
        var mask: Mask = 0
        for entry in name {
            let number = columns.placeWords[entry]
            for index in 0..<distinct.count {
                let word = distinct[index]
                if mask & word.bits == 0, isAt(entry, number, word.index, name) { mask |= word.bits }
            }
        }
        guard mask != all else { return mask }
        for index in 0..<(hasJoined(name) ? joins.count : 0) {
            let join = joins[index]
            if mask & join.mask != join.mask, columns.has(oneOf: join.begun.range, in: name) {
                mask |= join.mask
            }
        }
        for index in 0..<words.count
        where mask >> Mask(index) & 1 == 0 && !words.base[index].beginnings.isEmpty
            && isJoined(words[index], in: name)
        {
            mask |= 1 << Mask(index)
        }
        return mask
    }

    /// Whether a name has a word that several of the text are together.
    @inline(__always)
    private func hasJoined(_ name: Range<Int>) -> Bool {
        name.contains { entry in
            let number = columns.placeWords[entry]
            return (0..<joined.count).contains { joined[$0].contains(number) }
        }
    }

    /// Whether a word of the text begins that of a name, or stands for it by an abbreviation.
    @inline(__always)
    private func isAt(_ entry: Int, _ number: UInt32, _ index: Int, _ name: Range<Int>) -> Bool {
        let word = words.base + index
        if word.pointee.begins(number) {
            let run = word.pointee.run
            return run.isEmpty
                || columns.has(
                    runOf: UnsafeBufferPointer(start: numbers.base + run.start, count: run.count), in: name)
        }
        return !word.pointee.otherForms.isEmpty
            && word.pointee.otherForms.indices.contains { numbers[$0] == number }
    }

    /// Whether a name has a word of the text as several neighbouring ones.
    private func isJoined(_ word: Word, in name: Range<Int>) -> Bool {
        for entry in name {
            let number = columns.placeWords[entry]
            guard word.beginnings.indices.contains(where: { numbers[$0] == number }) else { continue }
            for index in 0..<2 where index == 0 || word.hasTwoForms {
                if isJoined(form(index, of: word), from: entry, of: name, count: 1) { return true }
            }
        }
        return false
    }

    /// Whether a text is the word at an entry of a name, the `count`th of those that are joined, and what follows that.
    private func isJoined(
        _ text: UnsafeBufferPointer<UInt8>, from entry: Int, of name: Range<Int>, count: Int
    ) -> Bool {
        let word = columns.word(columns.placeWords[entry])
        if word.count >= text.count { return count > 1 && word.starts(with: text) }
        guard count < Self.maximumJoinCount, text.starts(with: word),
            count > 1 || SearchWords.characterEnd(in: word.span, from: 0) < word.count
        else { return false }
        let rest = UnsafeBufferPointer(rebasing: text[word.count...])
        // The next word of the name, in all ways of writing it.
        var next = entry + 1
        while next < name.upperBound, columns.placeWords[next] == WordColumns.alternative { next += 2 }
        next = endOfJoined(from: next, of: name)
        while next < name.upperBound {
            if isJoined(rest, from: next, of: name, count: count + 1) { return true }
            guard next + 2 < name.upperBound, columns.placeWords[next + 1] == WordColumns.alternative else {
                return false
            }
            next += 2
        }
        return false
    }

    /// Where the words that are written as one end that begin at an entry of a name; the entry itself where there are none.
    private func endOfJoined(from entry: Int, of name: Range<Int>) -> Int {
        var next = entry
        while next < name.upperBound, columns.placeWords[next] == WordColumns.joined {
            next += 1
            // A run has a part for each of its characters, the last one alone.
            while SearchWords.isPart(ofRunWithMore: columns.word(columns.placeWords[next]).span) { next += 1 }
            next += 1
        }
        return next
    }

    func classOfAll(_ name: Range<Int>) -> RelevanceClass {
        var position = name.lowerBound
        for index in 0..<words.count {
            let word = words.base + index
            let (whole, isLast) = (word.pointee.whole, index == words.count - 1)
            for number in whole.indices {
                guard position < name.upperBound else { return .words }
                let element = wholes[number]
                let isEnd = isLast && number == whole.end - 1
                var (isWhole, isBegun) = (false, false)
                var entry = position
                while true {
                    let other = columns.placeWords[entry]
                    isWhole = isWhole || element.contains(other)
                    // A run's last character may be followed by others.
                    isBegun =
                        isBegun
                        || isEnd
                            && (word.pointee.isRun && number > whole.start || word.pointee.begins(other))
                    guard entry + 2 < name.upperBound,
                        columns.placeWords[entry + 1] == WordColumns.alternative
                    else { break }
                    entry += 2
                }
                position = endOfJoined(from: entry + 1, of: name)
                if isEnd, isWhole, position == name.upperBound { return .name }
                if isEnd { return isWhole || isBegun ? .beginning : .words }
                guard isWhole else { return .words }
            }
        }
        return .words
    }

    /// The words of the text behind those at its beginning that a name has; all where it doesn't have the first one.
    func rest(of mask: Mask) -> Mask {
        // The lowest bit that isn't set, and all above it.
        let first = ~mask & (mask &+ 1)
        return all & ~(first &- 1)
    }

    /// Whether a name that has some of the words has the only other one with an error, after `findErrors`.
    func isError(_ mask: Mask, in name: Range<Int>) -> Bool {
        let missing = all & ~mask
        guard missing.nonzeroBitCount == 1 else { return false }
        let errors = words[missing.trailingZeroBitCount].withError
        return !errors.isEmpty && name.contains { isError(columns.placeWords[$0], errors) }
    }
}
