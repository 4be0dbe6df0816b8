import PointsOfInterestAPI

/// Where some of a cell's places are: a box in space around them.
struct CellSample: Sendable {
    private var lower = SIMD3(repeating: Double.infinity)
    private var upper = SIMD3(repeating: -Double.infinity)

    /// A box is sought that is at most so many times as long as the sample.
    private static let greatestRatio = 4.0

    init(_ candidates: [Candidate]) {
        for candidate in candidates {
            let point = Ellipsoid.point(latitude: candidate.latitude, longitude: candidate.longitude)
            lower = pointwiseMin(lower, point)
            upper = pointwiseMax(upper, point)
        }
    }

    /// The sample's longest edge, in metres; negative where there is no place.
    var side: Double { (upper - lower).max() }

    /// Whether places of the sample may be in a patch that is far bigger than what they all are in.
    func isCrowded(in patch: SurfacePatch) -> Bool {
        patch.side > Self.greatestRatio * side && all(patch.lower .<= upper) && all(patch.upper .>= lower)
    }
}
