/// The events that were dropped and not told of yet.
struct EventDrops: Equatable {
    /// What is counted apart.
    struct Key: Hashable {
        /// Whose events they were; nil where nobody knows any more.
        let userID: String?
        let isTest: Bool
        let reason: EventDropReason
    }

    private(set) var counts: [Key: Int] = [:]

    mutating func add(_ key: Key, _ count: Int = 1) {
        counts[key, default: 0] += count
    }

    mutating func remove(_ key: Key, _ count: Int) {
        let rest = (counts[key] ?? 0) - count
        counts[key] = rest > 0 ? rest : nil
    }
}
