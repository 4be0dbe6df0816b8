import PointsOfInterestAPI

/// Between which lengths a candidate's geodesic distance lies, in metres; the same twice once it is measured.
struct DistanceBounds {
    let index: Int
    let id: Int64
    private(set) var least: Double
    private(set) var greatest: Double
    /// The upper bound that the order was first made by.
    private(set) var maximumBeforeMeasuring: Double

    /// Bounds by the candidate's chord where it has one; else measures.
    init(of candidates: [Candidate], at index: Int, from center: Coordinate) {
        self.index = index
        id = candidates[index].id
        if let chord = candidates[index].chordMeters, chord < Ranking.maximumUsefulChordMeters {
            least = Ranking.leastGeodesicMeters(chordMeters: chord)
            greatest = Ranking.maximumGeodesicMeters(chordMeters: chord)
        } else {
            least = Geodesic.distanceMeters(from: center, to: candidates[index])
            greatest = least
        }
        maximumBeforeMeasuring = greatest
    }

    /// Computes the geodesic, unless that was done.
    mutating func measure(_ candidates: [Candidate], _ center: Coordinate) {
        guard least < greatest else { return }
        least = Geodesic.distanceMeters(from: center, to: candidates[index])
        greatest = least
    }

    /// Whether the candidate is farther than `meters`; measures where the bounds don't tell.
    func isBeyond(_ meters: Double, _ candidates: [Candidate], _ center: Coordinate) -> Bool {
        if least > meters { return true }
        if greatest <= meters { return false }
        return Geodesic.distanceMeters(from: center, to: candidates[index]) > meters
    }

    /// Whether the candidate comes behind a position in the order; measures where the bounds don't tell.
    func isBehind(_ position: PagePosition, _ candidates: [Candidate], _ center: Coordinate) -> Bool {
        if least > position.distanceMeters { return true }
        if greatest < position.distanceMeters { return false }
        let distance =
            least == greatest ? least : Geodesic.distanceMeters(from: center, to: candidates[index])
        return (position.distanceMeters, position.id) < (distance, id)
    }

    /// Whether both bounds are the same to a tenth of a metre, which is what answers show.
    var decideTenths: Bool { (least * 10).rounded() == (greatest * 10).rounded() }
}
