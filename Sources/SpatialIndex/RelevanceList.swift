import Geodesy
import PointsOfInterestServerAPI

/// The best places of a search so far, in order.
struct RelevanceList {
    /// How a place is found, and by which reading of the text.
    struct Found {
        let relevance: RelevanceClass
        let reading: Int
    }

    struct Entry {
        let rank: RelevanceRank
        let found: Found
        var bounds: DistanceBounds
    }

    private(set) var entries: [Entry] = []
    /// Whether places are found by a part of the text from now on.
    var leavesOut = false
    private let limit: Int
    private let after: PagePosition?
    private let radiusMeters: Double?
    /// Up to where places are near; nil where none is.
    private let nearMeters: Double?
    private let hasCenter: Bool
    /// The rank of the last one of a full list, else the worst one.
    private var worst = RelevanceRank.last
    private var worstID = Int64.max
    /// Of places with this rank, those with a longer chord aren't before the last one of a full list.
    private var maximumChordMeters = Double.infinity
    /// No place farther than this belongs to the list, and none is near.
    private let maximumChordOfAll, maximumChordOfNear: Double

    init(_ query: RelevanceQuery) {
        limit = query.limit
        after = query.after
        radiusMeters = query.radiusMeters
        nearMeters = query.nearMeters
        hasCenter = query.center != nil
        maximumChordOfAll = query.radiusMeters.map { Ranking.chordMeters(ofGeodesicBeyond: $0) } ?? .infinity
        maximumChordOfNear = query.nearMeters.map { Ranking.chordMeters(ofGeodesicBeyond: $0) } ?? -1
        entries.reserveCapacity(limit + 1)
    }

    var isFull: Bool { entries.count >= limit }
    var isEmpty: Bool { entries.isEmpty }

    private func rank(_ relevance: RelevanceClass, _ importance: UInt16, isNear: Bool) -> RelevanceRank {
        RelevanceRank(relevance, importance: importance, isNear: isNear, leavesOut: leavesOut)
    }

    /// Whether any place of a class may belong to the list.
    func mayTakeAny(_ relevance: RelevanceClass) -> Bool {
        !(worst < rank(relevance, .max, isNear: nearMeters != nil))
    }

    /// Whether a place of a class may belong to the list.
    @inline(__always)
    func mayTake(
        _ relevance: RelevanceClass, importance: UInt16, id: @autoclosure () -> Int64,
        chordMeters: @autoclosure () -> Double
    ) -> Bool {
        let best = rank(relevance, importance, isNear: nearMeters != nil)
        guard !(worst < best) else { return false }
        guard nearMeters != nil || radiusMeters != nil || best == worst else { return true }
        guard hasCenter else { return id() < worstID }
        let chordMeters = chordMeters()
        guard chordMeters <= maximumChordOfAll else { return false }
        let rank =
            nearMeters == nil || chordMeters <= maximumChordOfNear
            ? best : rank(relevance, importance, isNear: false)
        return rank < worst || rank == worst && chordMeters <= maximumChordMeters
    }

    /// Takes a place, unless it doesn't belong to the list or was taken before.
    mutating func take(
        _ found: Found, importance: UInt16, _ bounds: DistanceBounds,
        measuring measure: (_ index: Int) -> Double
    ) {
        if let radiusMeters, bounds.isBeyond(radiusMeters, measuring: measure) { return }
        let isNear = nearMeters.map { !bounds.isBeyond($0, measuring: measure) } ?? false
        let rank = rank(found.relevance, importance, isNear: isNear)
        if let after, let last = after.rank {
            if rank < last { return }
            if rank == last, !bounds.isBehind(after, measuring: measure) { return }
        }
        var entry = Entry(rank: rank, found: found, bounds: bounds)
        var index = entries.count
        while index > 0 {
            // The same place has the same rank and the same distance.
            if entries[index - 1].bounds.id == bounds.id { return }
            if entries[index - 1].rank < rank { break }
            if entries[index - 1].rank == rank,
                !DistanceBounds.isBefore(&entry.bounds, &entries[index - 1].bounds, measuring: measure)
            {
                break
            }
            index -= 1
        }
        entries.insert(entry, at: index)
        if entries.count > limit { entries.removeLast() }
        if isFull, let last = entries.last {
            (worst, worstID) = (last.rank, last.bounds.id)
            maximumChordMeters = Ranking.chordMeters(ofGeodesicBeyond: last.bounds.maximum)
        }
    }
}
