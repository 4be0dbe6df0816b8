import PointsOfInterestServerAPI
import SpatialIndex

/// The ids of removed places, and which place each of those that were merged into another one is the same as.
///
/// 8 bytes for each id in memory, and about 40 more for each merged one. Copies share the memory until one of them is changed.
package struct FormerIDs: Hashable, Sendable {
    /// All of them, each once, in ascending order.
    package private(set) var ids: [Int64]
    /// The places that merged ones were merged into, by the ids of the merged ones.
    package private(set) var survivors: [Int64: Int64]

    /// Takes ids in any order; those of merged places have to be among them.
    package init(_ ids: [Int64] = [], survivors: [Int64: Int64] = [:]) {
        self.ids = zip(ids, ids.dropFirst()).allSatisfy(<) ? ids : Set(ids).sorted()
        self.survivors = survivors
    }

    package var isEmpty: Bool { ids.isEmpty }

    /// The memory that they take, in bytes.
    package var bytes: Int { 8 * ids.capacity + 24 * survivors.capacity }

    package func contains(_ id: Int64) -> Bool {
        let index = position(of: id)
        return index < ids.count && ids[index] == id
    }

    /// The index of the first id that isn't less.
    private func position(of id: Int64) -> Int { ids.indices.firstIndex(behind: { ids[$0] < id }) }

    /// Takes what is known of some ids now: those of them that aren't in `now` are no former ones. Where nothing differs, the
    /// memory stays shared.
    package mutating func replace(_ replaced: some Sequence<Int64>, with now: FormerIDs) {
        let changed = Set(replaced).union(now.ids)
        for id in changed where survivors[id] != now.survivors[id] { survivors[id] = now.survivors[id] }
        let differing = changed.filter { contains($0) != now.contains($0) }.sorted()
        guard !differing.isEmpty else { return }
        var (merged, start) = ([Int64](), 0)
        merged.reserveCapacity(ids.count + differing.count)
        for id in differing {
            let end = position(of: id)
            merged += ids[start..<end]
            start = end
            if now.contains(id) { merged.append(id) } else { start += 1 }
        }
        ids = merged + ids[start...]
    }

    /// Takes what is known of all ids of a range now.
    package mutating func replace(_ range: ClosedRange<Int64>, with now: FormerIDs) {
        let start = position(of: range.lowerBound)
        replace(ids[start...].prefix { $0 <= range.upperBound }, with: now)
    }
}

/// What became of a place that isn't there any more.
package enum FormerPlace: Hashable, Sendable {
    case removed
    /// Another place is the same, and is there.
    case merged(into: Int64)
}

extension FormerIDs {
    /// What became of a place that isn't in a snapshot; nil where there never was one with the id.
    func place(_ id: Int64, in snapshot: IndexSnapshot) -> FormerPlace? {
        guard contains(id) else { return nil }
        guard let survivor = survivors[id], snapshot.place(withID: survivor) != nil else { return .removed }
        return .merged(into: survivor)
    }
}
