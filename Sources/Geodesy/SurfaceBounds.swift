import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A box in geocentric space that holds a part of the Earth's surface, in metres.
package struct SurfaceBounds: Hashable, Sendable {
    /// The corner where all coordinates are minimal.
    package let lower: SIMD3<Double>
    /// The corner where all coordinates are maximal.
    package let upper: SIMD3<Double>

    /// Takes opposite corners.
    package init(lower: SIMD3<Double>, upper: SIMD3<Double>) {
        self.lower = lower
        self.upper = upper
    }

    /// x, y and z of the lower corner, then of the upper one.
    package var corners: [Double] { [lower.x, lower.y, lower.z, upper.x, upper.y, upper.z] }
}

// MARK: - Halves of the Earth

extension SurfaceBounds {
    /// Six bounds, each somewhat more than half of the Earth: towards 0°, 90° E and the north pole, then away from these.
    package static let halves = (0..<6).map { number in
        var (lower, upper) = (SIMD3(repeating: -10_000_000.0), SIMD3(repeating: 10_000_000.0))
        if number < 3 { lower[number] = -1_500_000 } else { upper[number - 3] = 1_500_000 }
        return SurfaceBounds(lower: lower, upper: upper)
    }

    /// The number of the half whose middle is nearest to a point on the Earth. It holds every place with a chord of up to
    /// 5,100 km to that point: the point is at least 6,356 km / √3 = 3,670 km towards the half's middle.
    package static func half(around point: SIMD3<Double>) -> Int {
        let (x, y, z) = (point.x.magnitude, point.y.magnitude, point.z.magnitude)
        let axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2
        return point[axis] >= 0 ? axis : axis + 3
    }
}

// MARK: - What holds the places of a search

extension SurfaceBounds {
    /// How much wider than necessary the bounds of a search are, in metres: more than the rounding of positions in space, by
    /// the database and by this code.
    private static let searchMargin = 0.001

    /// Holds every place whose chord to a point is no longer than this, in metres.
    package init(around point: SIMD3<Double>, chordMeters: Double) {
        let reach = chordMeters + Self.searchMargin
        self.init(lower: point - reach, upper: point + reach)
    }

    /// Holds every place of a box of latitudes and longitudes, by interval arithmetic (EPSG method 9602).
    package init(of box: BoundingBox) {
        let (south, north) = (Self.circle(atLatitude: box.south), Self.circle(atLatitude: box.north))
        let equator = Self.circle(atLatitude: 0)
        let crossesEquator = box.south <= 0 && box.north >= 0
        let radii = (
            min(south.radius, north.radius), crossesEquator ? equator.radius : max(south.radius, north.radius)
        )
        let east = box.crossesAntimeridian ? box.east + 360 : box.east
        let x = Self.product(of: radii, Self.cosines(from: box.west, to: east))
        // The sine is the cosine of a quarter of a turn less.
        let y = Self.product(of: radii, Self.cosines(from: box.west - 90, to: east - 90))
        self.init(
            lower: SIMD3(x.minimum, y.minimum, south.height) - Self.searchMargin,
            upper: SIMD3(x.maximum, y.maximum, north.height) + Self.searchMargin)
    }

    /// The intersection of both; some point if that is empty.
    package func intersection(_ other: SurfaceBounds) -> SurfaceBounds {
        let lower = pointwiseMax(lower, other.lower)
        return SurfaceBounds(lower: lower, upper: pointwiseMax(lower, pointwiseMin(upper, other.upper)))
    }

    /// The circle of a latitude: its radius, and its height over the equator's plane, in metres.
    private static func circle(atLatitude latitude: Double) -> (radius: Double, height: Double) {
        let point = Ellipsoid.point(Coordinate(validLatitude: latitude, validLongitude: 0))
        return (max(0, point.x), point.z)
    }

    /// The range of the cosines of angles in degrees.
    private static func cosines(from start: Double, to end: Double) -> (minimum: Double, maximum: Double) {
        /// Whether `angle`, plus a multiple of 360 degrees, is in the range.
        func reaches(_ angle: Double) -> Bool {
            ((start - angle) / 360).rounded(.up) * 360 + angle <= end
        }
        let ends = (cos(start * .pi / 180), cos(end * .pi / 180))
        return (reaches(180) ? -1 : min(ends.0, ends.1), reaches(0) ? 1 : max(ends.0, ends.1))
    }

    /// The range of products of radii, which aren't negative, with cosines.
    private static func product(
        of radii: (minimum: Double, maximum: Double), _ cosines: (minimum: Double, maximum: Double)
    ) -> (minimum: Double, maximum: Double) {
        (
            cosines.minimum * (cosines.minimum < 0 ? radii.maximum : radii.minimum),
            cosines.maximum * (cosines.maximum > 0 ? radii.maximum : radii.minimum)
        )
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
            let distance = Geodesic.distanceMeters(from: center, to: middle.coordinate)
            let reach = Ellipsoid.maximumGeodesicMeters(
                chordMeters: Self.chords(from: middle.point, lower, upper).farthest)
            minimum = max(minimum, distance - reach - Ellipsoid.margin)
            maximum = min(maximum, distance + reach + Ellipsoid.margin)
        }
        self.minimum = minimum
        self.maximum = maximum
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
