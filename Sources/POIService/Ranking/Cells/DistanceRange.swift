import PointsOfInterestAPI

/// Between which lengths the geodesics from a centre to all places of a patch lie, in metres.
struct DistanceRange: Hashable, Sendable {
    let least: Double
    let greatest: Double

    private init(least: Double, greatest: Double) {
        self.least = least
        self.greatest = greatest
    }

    /// The range that holds two.
    func union(_ other: DistanceRange) -> DistanceRange {
        DistanceRange(least: min(least, other.least), greatest: max(greatest, other.greatest))
    }

    /// Bounds the distances in two ways, and takes what is sharper.
    ///
    /// Nearby, by the chords to the patch's nearest and farthest corner. From afar, where chords tell little,
    /// by the triangle inequality: the geodesic distance is a metric, so with m on the surface and no place
    /// of the patch farther from m than ρ, it is that of m, at most ρ more or less.
    init(to patch: SurfacePatch, from center: Coordinate, at centerPoint: SIMD3<Double>) {
        let middle = patch.middle
        let radius = Ranking.greatestGeodesicMeters(chordMeters: patch.greatestChordMeters(from: middle))
        let toMiddle = Ellipsoid.coordinate(middle).map { Geodesic.distanceMeters(from: center, to: $0) }
        let margin = Ranking.roundingMarginMeters
        least = max(
            0, (toMiddle ?? 0) - radius - margin,
            Ranking.leastGeodesicMeters(chordMeters: patch.leastChordMeters(from: centerPoint)))
        greatest = min(
            (toMiddle ?? .infinity) + radius + margin,
            Ranking.greatestGeodesicMeters(chordMeters: patch.greatestChordMeters(from: centerPoint)))
    }
}
