import POIService
import PointsOfInterestAPI

/// A cube of the octree that `locations.space_key` counts: see `Migrations/0101_create_point_functions.sql`.
///
/// The root is the cube of 2^24 m around the Earth's centre, in geocentric coordinates (EPSG 4978).
struct SpaceCube: Hashable, Sendable {
    /// How often the root was halved, 0…21.
    let level: Int
    /// The octants on the way down from the root, three bits each: z's first, then y's and x's.
    let path: Int64
    /// The corner where all coordinates are least, in metres.
    let lower: SIMD3<Double>

    /// The level of a key's last bits: cubes of 8 m.
    static let lastLevel = 21

    /// All of space that the Earth is in.
    static let root = SpaceCube(level: 0, path: 0, lower: SIMD3(repeating: -8_388_608))

    /// The length of an edge, in metres: a power of two, so corners are exact.
    var side: Double { 16_777_216 / Double(Int64(1) << Int64(level)) }

    /// The corner where all coordinates are greatest.
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

    /// Whether the Earth's surface passes through the cube; true where in doubt.
    var touchesSurface: Bool {
        let least = pointwiseMax(pointwiseMax(lower, -upper), .zero) / Ellipsoid.semiAxes
        let greatest = pointwiseMax(upper, -lower) / Ellipsoid.semiAxes
        return (least * least).sum() <= 1 + 1e-9 && (greatest * greatest).sum() >= 1 - 1e-9
    }
}
