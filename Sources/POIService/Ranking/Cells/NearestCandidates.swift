import PointsOfInterestAPI

/// The nearest candidates so far, each once, as many as a ranking asks for.
struct NearestCandidates: Sendable {
    private struct Entry: Sendable {
        let distanceMeters: Double
        let candidate: Candidate

        func isBefore(_ meters: Double, _ id: Int64) -> Bool {
            (distanceMeters, candidate.id) < (meters, id)
        }
    }

    private let ranking: Ranking
    private let box: BoundingBox?
    private var entries: [Entry] = []
    private var ids: Set<Int64> = []

    init(of ranking: Ranking, in box: BoundingBox?) {
        self.ranking = ranking
        self.box = box
    }

    /// No place beyond this belongs to the answer, in metres; negative where none does at all.
    var reachMeters: Double {
        guard ranking.limit > 0 else { return -1 }
        let farthest = entries.count == ranking.limit ? entries.last?.distanceMeters : nil
        return min(ranking.radiusMeters ?? .infinity, farthest ?? .infinity)
    }

    /// The candidates in the order of distance, then id.
    var candidates: [Candidate] { entries.map(\.candidate) }

    /// Takes a candidate in if it belongs to the answer so far; one that is in already changes nothing.
    mutating func insert(_ candidate: Candidate) {
        if let box, !box.contains(latitude: candidate.latitude, longitude: candidate.longitude) { return }
        // The chord, where it is known, spares most of those that are too far the geodesic.
        if let chord = candidate.chordMeters,
            Ranking.leastGeodesicMeters(chordMeters: chord) > reachMeters
        {
            return
        }
        let meters = Geodesic.distanceMeters(from: ranking.center, to: candidate)
        guard meters <= reachMeters, !ids.contains(candidate.id) else { return }
        if let after = ranking.after, (meters, candidate.id) <= (after.distanceMeters, after.id) { return }
        // The order's place by bisection: there may be many candidates, and each asks here.
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].isBefore(meters, candidate.id) { low = middle + 1 } else { high = middle }
        }
        guard low < ranking.limit else { return }
        entries.insert(Entry(distanceMeters: meters, candidate: candidate), at: low)
        ids.insert(candidate.id)
        if entries.count > ranking.limit { ids.remove(entries.removeLast().candidate.id) }
    }
}
