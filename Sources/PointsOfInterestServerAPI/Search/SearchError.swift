/// An error in a word: a letter is inserted, left out or another one, or two neighbours are swapped.
package enum SearchError {
    /// A word of a search text with fewer letters has no error.
    package static let minimumLetterCount = 4

    /// Whether two words, which are UTF-8, differ by exactly one error.
    package static func isOne(
        between one: borrowing Span<UInt8>, and other: borrowing Span<UInt8>
    ) -> Bool {
        // A letter has at most four bytes.
        guard abs(one.count - other.count) <= 4 else { return false }
        let common = min(one.count, other.count)
        var start = 0
        while start < common, one[start] == other[start] { start += 1 }
        if start == one.count, start == other.count { return false }
        while start > 0, isInside(one, start) || isInside(other, start) { start -= 1 }
        var tail = 0
        while tail < common - start, one[one.count - 1 - tail] == other[other.count - 1 - tail] { tail += 1 }
        while tail > 0, isInside(one, one.count - tail) || isInside(other, other.count - tail) { tail -= 1 }
        let (left, right) = (start..<one.count - tail, start..<other.count - tail)
        switch (letterCount(one, left), letterCount(other, right)) {
        case (0, 1), (1, 0), (1, 1): return true
        case (2, 2):
            let first = SearchWords.characterEnd(in: one, from: start)
            let second = SearchWords.characterEnd(in: other, from: start)
            return isSame(one, start..<first, other, second..<right.upperBound)
                && isSame(one, first..<left.upperBound, other, start..<second)
        default: return false
        }
    }

    /// Whether an index is within a letter.
    private static func isInside(_ bytes: borrowing Span<UInt8>, _ index: Int) -> Bool {
        index < bytes.count && bytes[index] & 0xC0 == 0x80
    }

    private static func letterCount(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Int {
        var count = 0
        for index in range where bytes[index] & 0xC0 != 0x80 { count += 1 }
        return count
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
