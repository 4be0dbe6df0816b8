import Bytes
import PointsOfInterestServerAPI

/// Distinct words in the order of their bytes.
struct SortedWords: BitwiseCopyable {
    /// Where each word begins in `bytes`; one more than there are words.
    let starts: Column<UInt32>
    let bytes: Column<UInt8>

    init(starts: Column<UInt32>, bytes: Column<UInt8>) { (self.starts, self.bytes) = (starts, bytes) }

    /// Sorts the words of a table, and frees it.
    ///
    /// - Parameter place: called with the number of each word in the table and here.
    init(_ table: WordTable, _ place: (_ old: UInt32, _ new: UInt32) -> Void = { _, _ in }) {
        let sorted = table.sortedNumbers()
        var starts = Column<UInt32>(capacity: sorted.count + 1)
        var bytes = Column<UInt8>(capacity: table.bytes.count)
        starts.append(0)
        for (new, old) in sorted.enumerated() {
            place(old, UInt32(new))
            bytes.append(table.word(old))
            starts.append(UInt32(bytes.count))
        }
        table.free()
        (self.starts, self.bytes) = (starts, bytes)
    }

    var count: Int { starts.count - 1 }

    var memory: [any ColumnMemory] { [starts, bytes] }

    func word(_ number: UInt32) -> UnsafeBufferPointer<UInt8> {
        let start = Int(starts[Int(number)])
        return UnsafeBufferPointer(start: bytes.base + start, count: Int(starts[Int(number) + 1]) - start)
    }

    func words(beginningWith prefix: [UInt8]) -> Range<UInt32> {
        prefix.withUnsafeBufferPointer { prefix in
            let first = firstWord { $0.compared(with: prefix) < 0 }
            let end = firstWord { word in
                let head = UnsafeBufferPointer(rebasing: word.prefix(prefix.count))
                return head.compared(with: prefix) <= 0
            }
            return first..<max(first, end)
        }
    }

    /// The words that begin with a byte, or with one behind it.
    func words(from byte: UInt8) -> Range<UInt32> {
        firstWord { word in word.first.map { $0 < byte } ?? true }..<UInt32(count)
    }

    /// The number of a word; nil where it isn't one of these.
    func number(of word: UnsafeBufferPointer<UInt8>) -> UInt32? {
        let number = firstWord { $0.compared(with: word) < 0 }
        return number < count && self.word(number).isSame(as: word) ? number : nil
    }

    private func firstWord(where isBefore: (UnsafeBufferPointer<UInt8>) -> Bool) -> UInt32 {
        UInt32((0..<count).firstIndex(behind: { isBefore(word(UInt32($0))) }))
    }
}
