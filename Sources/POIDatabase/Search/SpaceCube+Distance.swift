import POIService
import PointsOfInterestAPI

/// Between which lengths the geodesics from a centre to the places of a part of the surface are, in metres.
struct CubeDistance: Sendable {
    let least: Double
    let greatest: Double

    /// Bounds the distances in two ways, of which the better counts.
    ///
    /// By the chords to the nearest and farthest points of the box around it; and, much tighter from afar, by the triangle
    /// inequality: geodesic distance is a metric, so it differs from that to a point in the middle by no more
    /// than the farthest place is from there.
    init(to bounds: SpaceCube.Bounds, from center: Coordinate, at point: SIMD3<Double>) {
        let (lower, upper) = bounds
        let (nearest, farthest) = Self.chords(from: point, lower, upper)
        var least = Ranking.leastGeodesicMeters(chordMeters: nearest)
        var greatest = Ellipsoid.maximumGeodesicMeters(chordMeters: farthest)
        if let middle = Ellipsoid.surface(below: (lower + upper) / 2) {
            let distance = Geodesic.distanceMeters(from: center, to: middle.coordinate)
            let reach = Ellipsoid.maximumGeodesicMeters(
                chordMeters: Self.chords(from: middle.point, lower, upper).farthest)
            least = max(least, distance - reach - Ellipsoid.margin)
            greatest = min(greatest, distance + reach + Ellipsoid.margin)
        }
        self.least = least
        self.greatest = greatest
    }

    private static func chords(
        from point: SIMD3<Double>, _ lower: SIMD3<Double>, _ upper: SIMD3<Double>
    ) -> (nearest: Double, farthest: Double) {
        let outside = pointwiseMax(pointwiseMax(lower - point, point - upper), .zero)
        let across = pointwiseMax(upper - point, point - lower)
        return ((outside * outside).sum().squareRoot(), (across * across).sum().squareRoot())
    }
}

extension SpaceCube {
    /// The corners of a box in space, the least coordinates and the greatest, in metres.
    typealias Bounds = (lower: SIMD3<Double>, upper: SIMD3<Double>)

    /// A box around the part of the Earth's surface that is in the cube: each axis narrows the others.
    ///
    /// A thousandth of a millimetre wider than the cube, since a place's point is rounded.
    var surfaceBounds: Bounds {
        var (lower, upper) = (lower - Ellipsoid.margin, upper + Ellipsoid.margin)
        for axis in [0, 1, 2, 0, 1, 2] {
            var (nearestRest, farthestRest) = (1.0, 1.0)
            for other in 0..<3 where other != axis {
                let square = Ellipsoid.semiAxes[other] * Ellipsoid.semiAxes[other]
                let least = max(0, lower[other], -upper[other])
                let greatest = max(upper[other], -lower[other])
                nearestRest -= greatest * greatest / square
                farthestRest -= least * least / square
            }
            let outermost = Ellipsoid.semiAxes[axis] * max(0, farthestRest + 1e-12).squareRoot()
            let innermost = Ellipsoid.semiAxes[axis] * max(0, nearestRest - 1e-12).squareRoot()
            // A cube is on one side of 0, but for the margin.
            if lower[axis] >= -2 * Ellipsoid.margin {
                lower[axis] = max(lower[axis], innermost - 4 * Ellipsoid.margin)
                upper[axis] = max(lower[axis], min(upper[axis], outermost + Ellipsoid.margin))
            } else if upper[axis] <= 2 * Ellipsoid.margin {
                upper[axis] = min(upper[axis], 4 * Ellipsoid.margin - innermost)
                lower[axis] = min(upper[axis], max(lower[axis], -outermost - Ellipsoid.margin))
            }
        }
        return (lower, upper)
    }
}
