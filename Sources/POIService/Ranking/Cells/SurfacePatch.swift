/// A box in space around a part of the Earth's surface.
struct SurfacePatch: Hashable, Sendable {
    /// The corner where all coordinates are least, in metres.
    private(set) var lower: SIMD3<Double>
    /// The corner where all coordinates are greatest, in metres.
    private(set) var upper: SIMD3<Double>

    /// More than a stored point is off the surface, by the rounding of its coordinates.
    private static let margin = Ranking.roundingMarginMeters

    /// Bounds the whole surface, or a region of it; nil where that has none.
    init?(of region: SurfaceRegion?) {
        lower = -Ellipsoid.semiAxes - Self.margin
        upper = Ellipsoid.semiAxes + Self.margin
        guard drawIn(to: region) else { return nil }
    }

    /// The parts of the surface, and of the region that the patch was made for, on both sides of the patch's
    /// middle: none, one or two.
    func halves(of region: SurfaceRegion?) -> [SurfacePatch] {
        let extent = upper - lower
        let axis = extent.x >= max(extent.y, extent.z) ? 0 : extent.y >= extent.z ? 1 : 2
        let middle = (lower[axis] + upper[axis]) / 2
        var halves = [self, self]
        halves[0].upper[axis] = middle
        halves[1].lower[axis] = middle
        return halves.compactMap { half in
            var half = half
            return half.drawIn(to: region) ? half : nil
        }
    }

    /// The longest edge, in metres.
    var side: Double { (upper - lower).max() }

    private mutating func drawIn(to region: SurfaceRegion?) -> Bool {
        guard narrow() else { return false }
        guard let region else { return true }
        return region.clip(&lower, &upper) && narrow()
    }

    /// The box around two patches.
    func union(_ other: SurfacePatch) -> SurfacePatch {
        var union = self
        union.lower = pointwiseMin(lower, other.lower)
        union.upper = pointwiseMax(upper, other.upper)
        return union
    }

    /// Draws the box in to the surface; false where it holds none of it.
    private mutating func narrow() -> Bool {
        // Each axis narrows the others; more rounds than two gain little.
        for _ in 0..<2 {
            for axis in 0..<3 {
                guard narrow(axis) else { return false }
            }
        }
        return true
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
        // The surface is beyond the innermost on both sides of 0. Where the box ends before it, only the other
        // side counts.
        if upper[axis] < innermost { upper[axis] = min(upper[axis], -innermost) }
        if lower[axis] > -innermost { lower[axis] = max(lower[axis], innermost) }
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
