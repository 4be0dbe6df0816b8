import POIService

/// The nearest places of a search so far, each once, as many as its ranking asks for.
struct NearestSoFar: Sendable {
    private let ranking: Ranking
    private var entries: [(distanceMeters: Double, candidate: Candidate)] = []

    init(of ranking: Ranking) {
        self.ranking = ranking
    }

    /// No place farther than this belongs to the answer, in metres.
    var reachMeters: Double {
        let farthest = entries.count >= ranking.limit ? entries.last?.distanceMeters : nil
        return min(ranking.radiusMeters ?? .infinity, farthest ?? .infinity)
    }

    /// The places, nearest first.
    var candidates: [Candidate] { entries.map(\.candidate) }

    /// Takes in a place that may belong to the answer.
    mutating func insert(_ candidate: Candidate) {
        let meters = Geodesic.distanceMeters(from: ranking.center, to: candidate)
        guard meters <= reachMeters else { return }
        if let after = ranking.after, (meters, candidate.id) <= (after.distanceMeters, after.id) { return }
        let index = entries.firstIndex(behind: {
            ($0.distanceMeters, $0.candidate.id) < (meters, candidate.id)
        })
        // The same place has the same distance, bit by bit.
        guard index == entries.count || entries[index].candidate.id != candidate.id else { return }
        entries.insert((meters, candidate), at: index)
        if entries.count > ranking.limit { entries.removeLast() }
    }
}
