import Foundation

/// Keeps answers in memory: the latest used, up to a number and a size.
public actor MemoryEntityTagStore: EntityTagStore {
    private struct Entry {
        let answer: TaggedResponse
        var lastUse: Int
    }

    private let maximumCount: Int
    private let maximumByteCount: Int
    private var entries: [EntityTagKey: Entry] = [:]
    private var byteCount = 0
    private var useCount = 0

    /// Makes an empty store.
    ///
    /// - Parameters:
    ///   - maximumCount: the most answers to keep.
    ///   - maximumByteCount: the most bytes of their bodies in sum.
    public init(maximumCount: Int = 100, maximumByteCount: Int = 4 << 20) {
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }

    /// The answer kept for a request, which is then the latest used.
    public func answer(for key: EntityTagKey) -> TaggedResponse? {
        useCount += 1
        entries[key]?.lastUse = useCount
        return entries[key]?.answer
    }

    /// Keeps an answer, and forgets those that were not used for longest where there are too many. One that is
    /// larger than all may be in sum is not kept.
    public func keep(_ answer: TaggedResponse, for key: EntityTagKey) {
        remove(key)
        guard answer.body.count <= maximumByteCount, maximumCount > 0 else { return }
        useCount += 1
        entries[key] = Entry(answer: answer, lastUse: useCount)
        byteCount += answer.body.count
        while entries.count > maximumCount || byteCount > maximumByteCount,
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
