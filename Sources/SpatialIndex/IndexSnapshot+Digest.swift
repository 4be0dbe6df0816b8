import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// The sums of the places that match a filter, by which a phone compares its own.
package struct IndexDigest: Sendable {
    /// Of each bucket.
    package var buckets: [PlaceSum]

    /// The sums of no places.
    package init() { buckets = Array(repeating: PlaceSum(), count: PlaceDigest.bucketCount) }

    package var count: Int { Int(buckets.reduce(0) { $0 + $1.count }) }

    /// The sums of a group's buckets.
    package func buckets(ofGroup group: Int) -> ArraySlice<PlaceSum> {
        buckets[PlaceDigest.buckets(ofGroup: group)]
    }

    /// The sums of all groups.
    package var groups: [PlaceSum] {
        (0..<PlaceDigest.groupCount).map { group in
            buckets(ofGroup: group).reduce(into: PlaceSum()) { $0.add($1) }
        }
    }
}

/// Adds up places, and finds those of some buckets, on any thread that holds the snapshot.
extension IndexSnapshot {
    /// The sums of the matching places; nil where `stop` has ended it.
    package func digest(
        _ filter: IndexFilter, in box: BoundingBox?, until stop: SearchStop = SearchStop { false }
    ) -> IndexDigest? {
        var digest = IndexDigest()
        let isDone = forEachMatching(filter, in: box, until: stop) { columns, place, _ in
            let id = columns.ids[place]
            digest.buckets[PlaceDigest.bucket(ofID: id)].add(id: id, hash: columns.hashes[place])
        }
        return isDone ? digest : nil
    }

    /// The matching places of some buckets, by their ids; nil where `stop` has ended it.
    package func places(
        ofBuckets buckets: Set<Int>, _ filter: IndexFilter, in box: BoundingBox?,
        until stop: SearchStop = SearchStop { false }
    ) -> [IndexPlaceReference]? {
        var isAsked = Array(repeating: false, count: PlaceDigest.bucketCount)
        for bucket in buckets { isAsked[bucket] = true }
        var found: [(id: Int64, reference: IndexPlaceReference)] = []
        let isDone = forEachMatching(filter, in: box, until: stop) { columns, place, part in
            let id = columns.ids[place]
            guard isAsked[PlaceDigest.bucket(ofID: id)] else { return }
            found.append((id, IndexPlaceReference(part: UInt32(part), place: UInt32(place))))
        }
        guard isDone else { return nil }
        return found.sorted { $0.id < $1.id }.map(\.reference)
    }

    package func id(of place: IndexPlaceReference) -> Int64 {
        views[Int(place.part)].columns.ids[Int(place.place)]
    }

    /// The hash of a place's content.
    package func contentHash(of place: IndexPlaceReference) -> UInt64 {
        views[Int(place.part)].columns.hashes[Int(place.place)]
    }

    /// Calls `body` with each listed place that matches; false where `stop` has ended it.
    private func forEachMatching(
        _ filter: IndexFilter, in box: BoundingBox?, until stop: SearchStop,
        _ body: (_ columns: PartColumns, _ place: Int, _ part: Int) -> Void
    ) -> Bool {
        guard !filter.matchesNothing else { return true }
        return withExtendedLifetime(stop) {
            var work = WorkBudget(until: stop)
            for (number, part) in views.enumerated() {
                let matching = PartFilter(filter, in: box, for: part)
                let isDone = filter.forEachTree(of: part.columns) { tree in
                    for index in 0..<Int(tree.count) {
                        work.spend(matching.cost)
                        guard !work.isSpent else { return false }
                        let place =
                            tree.listStart.map { Int(part.columns.listedPlaces[Int($0) + index]) } ?? index
                        if matching.admits(place, of: part) { body(part.columns, place, number) }
                    }
                    return true
                }
                guard isDone else { return false }
            }
            return true
        }
    }
}
