import Geodesy
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

extension SpaceCube {
    /// The number of the smallest cube that a coordinate is in, as the database's `space_key` counts it. Where a coordinate
    /// is within rounding of a face, the neighbour may be meant.
    static func key(of coordinate: Coordinate) -> Int64 {
        let offset = (Ellipsoid.point(coordinate) - root.lower) / 8
        return spread(offset.z) << 2 | spread(offset.y) << 1 | spread(offset.x)
    }

    /// The whole part of a number below 2^21, with two zeros between every two of its bits.
    private static func spread(_ number: Double) -> Int64 {
        var bits = Int64(number)
        bits = (bits | bits << 32) & 0x001F_0000_0000_FFFF
        bits = (bits | bits << 16) & 0x001F_0000_FF00_00FF
        bits = (bits | bits << 8) & 0x100F_00F0_0F00_F00F
        bits = (bits | bits << 4) & 0x10C3_0C30_C30C_30C3
        return (bits | bits << 2) & 0x1249_2492_4924_9249
    }
}

// MARK: - The surface in it

extension SpaceCube {
    /// Whether the Earth's surface passes through the cube; true where in doubt.
    var touchesSurface: Bool {
        let nearest = pointwiseMax(pointwiseMax(lower, -upper), .zero) / Ellipsoid.semiAxes
        let farthest = pointwiseMax(upper, -lower) / Ellipsoid.semiAxes
        return (nearest * nearest).sum() <= 1 + 1e-9 && (farthest * farthest).sum() >= 1 - 1e-9
    }

    /// A box around the part of the Earth's surface that is in the cube: each axis narrows the others.
    ///
    /// A thousandth of a millimetre wider than the cube, since a place's point is rounded.
    var surfaceBounds: SurfaceBounds {
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
        return SurfaceBounds(lower: lower, upper: upper)
    }
}
