/// An error in a word: a letter is inserted, left out or another one, or two neighbours are swapped.
package enum SearchError {
    /// A word of a search text with fewer letters has no error.
    package static let minimumLetterCount = 4

    /// Whether two words, which are UTF-8, differ by exactly one error.
    package static func isOne(
        between one: UnsafeBufferPointer<UInt8>, and other: UnsafeBufferPointer<UInt8>
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
        let left = UnsafeBufferPointer(rebasing: one[start..<one.count - tail])
        let right = UnsafeBufferPointer(rebasing: other[start..<other.count - tail])
        switch (letterCount(left), letterCount(right)) {
        case (0, 1), (1, 0), (1, 1): return true
        case (2, 2):
            let (first, second) = (letterEnd(left), letterEnd(right))
            return left[..<first].elementsEqual(right[second...])
                && left[first...].elementsEqual(right[..<second])
        default: return false
        }
    }

    /// Whether an index is within a letter.
    private static func isInside(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        index < bytes.count && bytes[index] & 0xC0 == 0x80
    }

    private static func letterCount(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        bytes.count { $0 & 0xC0 != 0x80 }
    }

    private static func letterEnd(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        SearchWords.characterEnd(in: bytes, from: 0)
    }
}
