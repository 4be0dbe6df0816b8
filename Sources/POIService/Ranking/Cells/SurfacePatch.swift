import PointsOfInterestAPI

/// A box in space around the part of the Earth's surface that lies in a cube.
struct SurfacePatch: Hashable, Sendable {
    /// The corner where all coordinates are least, in metres.
    private(set) var lower: SIMD3<Double>
    /// The corner where all coordinates are greatest, in metres.
    private(set) var upper: SIMD3<Double>

    /// More than a stored point is off the surface, by the rounding of its coordinates.
    private static let margin = Ranking.roundingMarginMeters

    /// Bounds the surface in a cube; nil where there is none in it.
    init?(in cube: OctreeCube) {
        lower = cube.lower - Self.margin
        upper = cube.upper + Self.margin
        // Each axis narrows the others; more rounds than two gain little.
        for _ in 0..<2 {
            for axis in 0..<3 {
                guard narrow(axis) else { return nil }
            }
        }
    }

    /// Solves the surface's equation for one coordinate, with the others as they are bounded by now.
    private mutating func narrow(_ axis: Int) -> Bool {
        let (least, greatest) = squares
        let semiAxes = Ellipsoid.semiAxes
        var (leastRest, greatestRest) = (1.0, 1.0)
        for other in 0..<3 where other != axis {
            leastRest -= greatest[other] / (semiAxes[other] * semiAxes[other])
            greatestRest -= least[other] / (semiAxes[other] * semiAxes[other])
        }
        // A margin in space is a far smaller one of what is left of 1; this one is as wide anyway.
        let outermost = semiAxes[axis] * max(0, greatestRest + 1e-12).squareRoot() + Self.margin
        let innermost = semiAxes[axis] * max(0, leastRest - 1e-12).squareRoot() - Self.margin
        upper[axis] = min(upper[axis], outermost)
        lower[axis] = max(lower[axis], -outermost)
        // The cube is on one side of 0, but for the margin.
        if upper[axis] > 2 * Self.margin { lower[axis] = max(lower[axis], innermost) }
        if lower[axis] < -2 * Self.margin { upper[axis] = min(upper[axis], -innermost) }
        return greatestRest > -1e-12 && lower[axis] <= upper[axis]
    }

    /// The least and the greatest square of each coordinate.
    private var squares: (least: SIMD3<Double>, greatest: SIMD3<Double>) {
        let (low, high) = (lower * lower, upper * upper)
        var least = pointwiseMin(low, high)
        for axis in 0..<3 where lower[axis] <= 0 && upper[axis] >= 0 { least[axis] = 0 }
        return (least, pointwiseMax(low, high))
    }

    /// A point of the surface near the patch's middle.
    var middle: SIMD3<Double> { Ellipsoid.surfacePoint(below: (lower + upper) / 2) }

    /// The greatest distance in space from a point to one of the patch, in metres.
    func greatestChordMeters(from point: SIMD3<Double>) -> Double {
        length(pointwiseMax(upper - point, point - lower))
    }

    /// The least distance in space from a point to one of the patch, in metres.
    func leastChordMeters(from point: SIMD3<Double>) -> Double {
        length(pointwiseMax(pointwiseMax(lower - point, point - upper), .zero))
    }

    private func length(_ vector: SIMD3<Double>) -> Double { (vector * vector).sum().squareRoot() }
}
