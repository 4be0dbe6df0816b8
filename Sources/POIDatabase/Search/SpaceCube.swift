import POIService
import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A cube of the octree that `locations.space_key` counts: see `Migrations/0101_create_point_functions.sql`.
///
/// The root is the cube of 2^24 m around the Earth's centre, in geocentric coordinates (EPSG 4978).
struct SpaceCube: Hashable, Sendable {
    /// How often the root was halved, 0…21.
    let level: Int
    /// The octants on the way down from the root, three bits each: z's first, then y's and x's.
    let path: Int64
    /// The corner where all coordinates are minimal, in metres.
    let lower: SIMD3<Double>

    /// The level of a key's last bits: cubes of 8 m.
    static let lastLevel = 21

    /// All of space that the Earth is in.
    static let root = SpaceCube(level: 0, path: 0, lower: SIMD3(repeating: -8_388_608))

    /// The length of an edge, in metres: a power of two, so corners are exact.
    var side: Double { 16_777_216 / Double(Int64(1) << Int64(level)) }

    /// The corner where all coordinates are maximal, in metres.
    var upper: SIMD3<Double> { lower + side }

    /// The keys of all places in the cube.
    var keys: ClosedRange<Int64> {
        let shift = Int64(3 * (Self.lastLevel - level))
        return path << shift...(path << shift | Int64((UInt64(1) << UInt64(shift)) - 1))
    }

    /// The eight cubes of half the side; none at the last level.
    var children: [SpaceCube] {
        guard level < Self.lastLevel else { return [] }
        return (0..<8).map { (octant: Int64) in
            let corner = SIMD3(Double(octant & 1), Double(octant >> 1 & 1), Double(octant >> 2))
            return SpaceCube(level: level + 1, path: path << 3 | octant, lower: lower + corner * (side / 2))
        }
    }

    /// The child that a point of the cube is in.
    func child(at point: SIMD3<Double>) -> SpaceCube? {
        children.first { child in
            let offset = point - child.lower
            return offset.min() >= 0 && offset.max() < child.side
        }
    }
}

// MARK: - The surface in it

extension SpaceCube {
    /// Opposite corners of a box in space, those of minimal and maximal coordinates, in metres.
    typealias Bounds = (lower: SIMD3<Double>, upper: SIMD3<Double>)

    /// Whether the Earth's surface passes through the cube; true where in doubt.
    var touchesSurface: Bool {
        let nearest = pointwiseMax(pointwiseMax(lower, -upper), .zero) / Ellipsoid.semiAxes
        let farthest = pointwiseMax(upper, -lower) / Ellipsoid.semiAxes
        return (nearest * nearest).sum() <= 1 + 1e-9 && (farthest * farthest).sum() >= 1 - 1e-9
    }

    /// A box around the part of the Earth's surface that is in the cube: each axis narrows the others.
    ///
    /// A thousandth of a millimetre wider than the cube, since a place's point is rounded.
    var surfaceBounds: Bounds {
        var (lower, upper) = (lower - Ellipsoid.margin, upper + Ellipsoid.margin)
        for axis in [0, 1, 2, 0, 1, 2] {
            var (nearestRest, farthestRest) = (1.0, 1.0)
            for other in 0..<3 where other != axis {
                let square = Ellipsoid.semiAxes[other] * Ellipsoid.semiAxes[other]
                let minimum = max(0, lower[other], -upper[other])
                let maximum = max(upper[other], -lower[other])
                nearestRest -= maximum * maximum / square
                farthestRest -= minimum * minimum / square
            }
            let outermost = Ellipsoid.semiAxes[axis] * max(0, farthestRest + 1e-12).squareRoot()
            let innermost = Ellipsoid.semiAxes[axis] * max(0, nearestRest - 1e-12).squareRoot()
            // A cube is on one side of 0, except for the margin.
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

// MARK: - Distance

/// The minimum and the maximum of the geodesics from a centre to the places of a part of the surface, in metres.
struct CubeDistance: Sendable {
    let minimum: Double
    let maximum: Double

    /// Bounds the distances in two ways, and takes the better ones.
    ///
    /// By the chords to the nearest and farthest points of the box around it; and, much tighter from afar, by the triangle
    /// inequality: geodesic distance is a metric, so it differs from that to a point in the middle by no more
    /// than the farthest place is from there.
    init(to bounds: SpaceCube.Bounds, from center: Coordinate, at point: SIMD3<Double>) {
        let (lower, upper) = bounds
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

extension SpaceCube {
    /// More than the rounding of angles adds up to, in degrees.
    private static let angleMargin = 1e-9

    /// Whether a place of the part of the surface within bounds may lie in a box of latitudes and longitudes;
    /// true where in doubt.
    static func mayMeet(_ box: BoundingBox, within bounds: Bounds) -> Bool {
        let (lower, upper) = bounds
        // On the surface the latitude follows from the height over the equator's plane alone.
        guard Ellipsoid.latitude(atHeight: lower.z) - angleMargin <= box.north,
            box.south <= Ellipsoid.latitude(atHeight: upper.z) + angleMargin
        else { return false }
        guard let (west, width) = longitudes(lower, upper) else { return true }
        let boxWidth = box.crossesAntimeridian ? box.east - box.west + 360 : box.east - box.west
        return eastward(from: box.west, to: west) <= boxWidth
            || eastward(from: west, to: box.west) <= width
    }

    /// The western end and the width of the cube's longitudes, in degrees; nil where it may have any, since a
    /// place at a pole may.
    private static func longitudes(_ lower: SIMD3<Double>, _ upper: SIMD3<Double>) -> (Double, Double)? {
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
        return (middleLongitude + west - angleMargin, east - west + 2 * angleMargin)
    }

    /// How far east one longitude is of another, 0..<360 degrees.
    private static func eastward(from start: Double, to end: Double) -> Double {
        let turn = (end - start).truncatingRemainder(dividingBy: 360)
        return turn < 0 ? turn + 360 : turn
    }
}
