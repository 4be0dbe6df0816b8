import PointsOfInterestAPI

/// The exact order of places around a centre: by geodesic distance, then by id.
///
/// The one implementation for every store. PostgreSQL proposes candidates in the order of the straight
/// line through the Earth; the order on the ellipsoid differs from it, so candidates are ordered here
/// and cut, and `verdict` tells whether a place that was not proposed could still belong to the answer.
public struct Ranking: Hashable, Sendable {
    /// Where distances are measured from.
    public let center: Coordinate
    /// How far a place may be, in metres; nil where only `limit` bounds the answer.
    public let radiusMeters: Double?
    /// The most places that are asked for.
    public let limit: Int
    /// Where the pages before this one end: places at or before it don't belong to the answer; nil where
    /// there are none.
    public let after: PagePosition?

    /// Ranks around `center`, from behind `after` on.
    public init(center: Coordinate, radiusMeters: Double?, limit: Int, after: PagePosition? = nil) {
        self.center = center
        self.radiusMeters = radiusMeters
        self.limit = limit
        self.after = after
    }

    /// A candidate that belongs to the answer.
    public struct Placed: Hashable, Sendable {
        /// Where the candidate stood among those ranked.
        public let index: Int
        /// The candidate's id.
        public let id: Int64
        /// Its geodesic distance in metres: unrounded; or, where the candidate came with its chord, up to
        /// a few centimetres longer, if that changes neither the order nor a tenth of a metre.
        public let distanceMeters: Double
    }

    /// Orders the candidates within the radius and behind `after`, nearest first, at most `limit`.
    ///
    /// A chord bounds its geodesic to micrometres nearby. Most often the bounds already decide what is
    /// asked for: which place is nearer, whether one is within the radius, what its distance is to a tenth
    /// of a metre. Only where they leave that open is the geodesic itself computed, which takes longer
    /// than everything else here together.
    public func rank(_ candidates: [Candidate]) -> [Placed] {
        var bounds = candidates.indices.map { DistanceBounds(of: candidates, at: $0, from: center) }
        if let radiusMeters {
            bounds.removeAll { $0.isBeyond(radiusMeters, candidates, center) }
        }
        if let after {
            bounds.removeAll { !$0.isBehind(after, candidates, center) }
        }
        bounds.sort { ($0.least, $0.id) < ($1.least, $1.id) }
        if measureOverlapping(&bounds, candidates) {
            bounds.sort { ($0.least, $0.id) < ($1.least, $1.id) }
        }
        return bounds.prefix(limit).map { bounds in
            var bounds = bounds
            if !bounds.decideTenths { bounds.measure(candidates, center) }
            return Placed(index: bounds.index, id: bounds.id, distanceMeters: bounds.greatest)
        }
    }

    /// Measures every two candidates whose order the bounds leave open; answers whether there were any.
    private func measureOverlapping(_ bounds: inout [DistanceBounds], _ candidates: [Candidate]) -> Bool {
        var found = false
        var farthest = 0
        for next in bounds.indices.dropFirst() {
            if bounds[next].least <= bounds[farthest].maximumBeforeMeasuring {
                bounds[next].measure(candidates, center)
                bounds[farthest].measure(candidates, center)
                found = true
            }
            if bounds[next].maximumBeforeMeasuring > bounds[farthest].maximumBeforeMeasuring {
                farthest = next
            }
        }
        return found
    }
}
