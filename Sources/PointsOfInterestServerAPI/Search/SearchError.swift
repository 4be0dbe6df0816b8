/// An error in a word: a letter is inserted, left out or another one, or two neighbours are swapped.
package enum SearchError {
    /// A word of a search text with fewer letters has no error; none as the beginning of a word; and no two.
    package static let minimumLetterCount = 4, minimumLetterCountOfBeginnings = 5, minimumLetterCountOfTwo = 8

    /// Whether two words, which are UTF-8, differ by exactly one error.
    package static func isOne(
        between one: borrowing Span<UInt8>, and other: borrowing Span<UInt8>
    ) -> Bool {
        isAtMost(1, between: one, and: other) && !isAtMost(0, between: one, and: other)
    }

    /// Whether two words, which are UTF-8, differ by so few errors, of which none is in what another one has changed: the optimal
    /// string alignment distance (Boytsov, "Indexing methods for approximate dictionary searching", 2011, section 2.1).
    package static func isAtMost(
        _ count: Int, between one: borrowing Span<UInt8>, and other: borrowing Span<UInt8>
    ) -> Bool {
        // A letter has at most four bytes.
        abs(one.count - other.count) <= 4 * count && isAtMost(count, one, 0, other, 0)
    }

    /// The same for what is behind some bytes.
    private static func isAtMost(
        _ count: Int, _ one: borrowing Span<UInt8>, _ oneStart: Int, _ other: borrowing Span<UInt8>,
        _ otherStart: Int
    ) -> Bool {
        var (start, otherStart) = (oneStart, otherStart)
        let common = min(one.count - start, other.count - otherStart)
        var same = 0
        while same < common, one[start + same] == other[otherStart + same] { same += 1 }
        while same > 0, isInside(one, start + same) || isInside(other, otherStart + same) { same -= 1 }
        start += same
        otherStart += same
        if start == one.count, otherStart == other.count { return true }
        guard count > 0 else { return false }
        let end = SearchWords.characterEnd(in: one, from: start)
        let otherEnd = SearchWords.characterEnd(in: other, from: otherStart)
        if start == one.count { return isAtMost(count - 1, one, start, other, otherEnd) }
        if otherStart == other.count { return isAtMost(count - 1, one, end, other, otherStart) }
        if isAtMost(count - 1, one, end, other, otherEnd) || isAtMost(count - 1, one, start, other, otherEnd)
            || isAtMost(count - 1, one, end, other, otherStart)
        {
            return true
        }
        guard end < one.count, otherEnd < other.count else { return false }
        let (next, otherNext) = (
            SearchWords.characterEnd(in: one, from: end), SearchWords.characterEnd(in: other, from: otherEnd)
        )
        return isSame(one, start..<end, other, otherEnd..<otherNext)
            && isSame(one, end..<next, other, otherStart..<otherEnd)
            && isAtMost(count - 1, one, next, other, otherNext)
    }

    /// Whether an index is within a letter.
    private static func isInside(_ bytes: borrowing Span<UInt8>, _ index: Int) -> Bool {
        index < bytes.count && bytes[index] & 0xC0 == 0x80
    }

    private static func isSame(
        _ one: borrowing Span<UInt8>, _ range: Range<Int>, _ other: borrowing Span<UInt8>,
        _ otherRange: Range<Int>
    ) -> Bool {
        guard range.count == otherRange.count else { return false }
        for (index, otherIndex) in zip(range, otherRange) where one[index] != other[otherIndex] {
            return false
        }
        return true
    }
}
