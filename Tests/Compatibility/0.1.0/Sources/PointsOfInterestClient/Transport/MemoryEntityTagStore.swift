import Foundation

/// Keeps answers in memory: the latest used, up to a number and a size.
public actor MemoryEntityTagStore: EntityTagStore {
    private struct Entry {
        let answer: TaggedAnswer
        var lastUse: Int
    }

    private let greatestCount: Int
    private let greatestByteCount: Int
    private var entries: [EntityTagKey: Entry] = [:]
    private var byteCount = 0
    private var useCount = 0

    /// Makes an empty store.
    ///
    /// - Parameters:
    ///   - greatestCount: the most answers to keep.
    ///   - greatestByteCount: the most bytes of their bodies in sum.
    public init(greatestCount: Int = 100, greatestByteCount: Int = 4 << 20) {
        self.greatestCount = greatestCount
        self.greatestByteCount = greatestByteCount
    }

    /// The answer kept for a request, which is then the latest used.
    public func answer(for key: EntityTagKey) -> TaggedAnswer? {
        useCount += 1
        entries[key]?.lastUse = useCount
        return entries[key]?.answer
    }

    /// Keeps an answer, and forgets those that were not used for longest where there are too many. One that is
    /// larger than all may be in sum is not kept.
    public func keep(_ answer: TaggedAnswer, for key: EntityTagKey) {
        remove(key)
        guard answer.body.count <= greatestByteCount, greatestCount > 0 else { return }
        useCount += 1
        entries[key] = Entry(answer: answer, lastUse: useCount)
        byteCount += answer.body.count
        while entries.count > greatestCount || byteCount > greatestByteCount,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            remove(oldest.key)
        }
    }

    private func remove(_ key: EntityTagKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.answer.body.count
    }
}
