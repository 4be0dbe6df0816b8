import PointsOfInterestAPI

/// The nearest places that a search has found so far, each once, as many as its ranking asks for.
package struct NearestCandidates: Sendable {
    private let ranking: Ranking
    private var entries: [(distanceMeters: Double, candidate: Candidate)] = []
    /// The position that was measured last: many places may be at one point, one after the other.
    private var measured: (latitude: Double, longitude: Double, meters: Double)?

    /// The geodesics of all longer chords are longer than `maximumMeters`.
    private var maximumChordMeters = Double.infinity

    package init(of ranking: Ranking) {
        self.ranking = ranking
        maximumChordMeters = Ranking.chordMeters(ofGeodesicBeyond: maximumMeters)
    }

    /// No place farther than this belongs to the ranking, in metres.
    package var maximumMeters: Double {
        let farthest = entries.count >= ranking.limit ? entries.last?.distanceMeters : nil
        return min(ranking.radiusMeters ?? .infinity, farthest ?? .infinity)
    }

    /// The places, nearest first.
    package var candidates: [Candidate] { entries.map(\.candidate) }

    /// Takes a place if it may belong to the ranking. If its chord is known and rules that out, it isn't measured.
    package mutating func insert(_ candidate: Candidate) {
        if let chord = candidate.chordMeters, chord > maximumChordMeters { return }
        let meters = distanceMeters(of: candidate)
        guard meters <= maximumMeters else { return }
        if let after = ranking.after, (meters, candidate.id) <= (after.distanceMeters, after.id) { return }
        let index = entries.firstIndex(behind: {
            ($0.distanceMeters, $0.candidate.id) < (meters, candidate.id)
        })
        // The same place has the same distance, bit by bit.
        guard index == entries.count || entries[index].candidate.id != candidate.id else { return }
        entries.insert((meters, candidate), at: index)
        if entries.count > ranking.limit { entries.removeLast() }
        maximumChordMeters = Ranking.chordMeters(ofGeodesicBeyond: maximumMeters)
    }

    private mutating func distanceMeters(of candidate: Candidate) -> Double {
        if let measured, measured.latitude.bitPattern == candidate.latitude.bitPattern,
            measured.longitude.bitPattern == candidate.longitude.bitPattern
        {
            return measured.meters
        }
        let meters = Geodesic.distanceMeters(from: ranking.center, to: candidate)
        measured = (candidate.latitude, candidate.longitude, meters)
        return meters
    }
}

extension Array {
    /// The first index of a sorted array behind all elements that belong before, by binary search.
    ///
    /// - Parameter belongsBefore: true for the first elements of the array and false for the rest.
    package func firstIndex(behind belongsBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
