import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A box in geocentric space that holds a part of the Earth's surface, in metres.
package struct SurfaceBounds: Hashable, Sendable {
    package let lower: SIMD3<Double>
    /// The corner where all coordinates are maximal.
    package let upper: SIMD3<Double>

    package init(lower: SIMD3<Double>, upper: SIMD3<Double>) {
        self.lower = lower
        self.upper = upper
    }
}

/// The minimum and the maximum of the geodesics from a centre to the places of a part of the surface, in metres.
package struct DistanceRange: Sendable {
    package let minimum: Double
    package let maximum: Double

    /// Bounds the distances in two ways, and takes the better ones.
    ///
    /// One way uses the chords to the nearest and farthest points of the box around the places. The other is much tighter
    /// from afar, and uses the triangle inequality: geodesic distance is a metric, so the distance to a place differs from
    /// that to a point in the middle by no more than the farthest place is from that point.
    package init(to bounds: SurfaceBounds, from center: Coordinate, at point: SIMD3<Double>) {
        let (lower, upper) = (bounds.lower, bounds.upper)
        let (nearest, farthest) = Self.chords(from: point, lower, upper)
        var minimum = Ranking.minimumGeodesicMeters(chordMeters: nearest)
        var maximum = Ellipsoid.maximumGeodesicMeters(chordMeters: farthest)
        if let middle = Ellipsoid.surface(below: (lower + upper) / 2) {
            let distance = Self.meters(from: center, at: point, to: middle)
            let reach = Ellipsoid.maximumGeodesicMeters(
                chordMeters: Self.chords(from: middle.point, lower, upper).farthest)
            minimum = max(minimum, distance.minimum - reach - Ellipsoid.margin)
            maximum = min(maximum, distance.maximum + reach + Ellipsoid.margin)
        }
        self.minimum = minimum
        self.maximum = maximum
    }

    private static func meters(
        from center: Coordinate, at point: SIMD3<Double>,
        to end: (point: SIMD3<Double>, coordinate: Coordinate)
    ) -> (minimum: Double, maximum: Double) {
        if let bounds = Ranking.geodesicBounds(from: point, to: end.point) { return bounds }
        let meters = Geodesic.distanceMeters(from: center, to: end.coordinate)
        return (meters, meters)
    }

    private static func chords(
        from point: SIMD3<Double>, _ lower: SIMD3<Double>, _ upper: SIMD3<Double>
    ) -> (nearest: Double, farthest: Double) {
        let outside = pointwiseMax(pointwiseMax(lower - point, point - upper), .zero)
        let across = pointwiseMax(upper - point, point - lower)
        return ((outside * outside).sum().squareRoot(), (across * across).sum().squareRoot())
    }
}

// MARK: - Latitudes and longitudes

extension SurfaceBounds {
    /// An upper bound of what the rounding of angles adds up to, in degrees.
    private static let angleMargin = 1e-9

    /// Whether a place of this part of the surface may lie in a box of latitudes and longitudes;
    /// true where in doubt.
    package func mayMeet(_ box: BoundingBox) -> Bool {
        // On the surface the latitude follows from the height over the equator's plane alone.
        guard Ellipsoid.latitude(atHeight: lower.z) - Self.angleMargin <= box.north,
            box.south <= Ellipsoid.latitude(atHeight: upper.z) + Self.angleMargin
        else { return false }
        guard let (west, width) = longitudes else { return true }
        let boxWidth = box.crossesAntimeridian ? box.east - box.west + 360 : box.east - box.west
        return Self.eastward(from: box.west, to: west) <= boxWidth
            || Self.eastward(from: west, to: box.west) <= width
    }

    /// The western end and the width of the longitudes, in degrees. Nil where any longitude is possible, because a place at a
    /// pole may have any.
    private var longitudes: (west: Double, width: Double)? {
        guard lower.x > 1 || lower.y > 1 || upper.x < -1 || upper.y < -1 else { return nil }
        // Seen from the axis, a rectangle beside it is less than half a turn wide about its middle.
        let middle = (lower + upper) / 2
        var (west, east) = (0.0, 0.0)
        for x in [lower.x, upper.x] {
            for y in [lower.y, upper.y] {
                let turn = atan2(middle.x * y - middle.y * x, middle.x * x + middle.y * y) * 180 / .pi
                west = min(west, turn)
                east = max(east, turn)
            }
        }
        let middleLongitude = atan2(middle.y, middle.x) * 180 / .pi
        return (middleLongitude + west - Self.angleMargin, east - west + 2 * Self.angleMargin)
    }

    /// How far east one longitude is of another, 0..<360 degrees.
    private static func eastward(from start: Double, to end: Double) -> Double {
        let turn = (end - start).truncatingRemainder(dividingBy: 360)
        return turn < 0 ? turn + 360 : turn
    }
}
