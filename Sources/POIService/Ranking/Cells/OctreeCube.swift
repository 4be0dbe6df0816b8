/// A cube of the octree over the space that the Earth is in, by halving: its faces are exact numbers.
struct OctreeCube: Hashable, Sendable {
    /// Sides of the whole: a power of two, in metres, that the Earth fits in.
    private static let wholeSide = 16_777_216.0
    /// The whole, which is centred on the Earth: so no child has 0 inside, only on its faces.
    static let whole = OctreeCube(level: 0, x: 0, y: 0, z: 0)

    /// How often the whole was halved.
    let level: Int32
    private let x: Int32
    private let y: Int32
    private let z: Int32

    private init(level: Int32, x: Int32, y: Int32, z: Int32) {
        self.level = level
        self.x = x
        self.y = y
        self.z = z
    }

    /// The length of an edge, in metres.
    var side: Double { Self.wholeSide / Double(1 << Int64(level)) }

    /// Whether halving it further gains nothing: the database's index rounds coordinates to half a metre.
    var isSmallest: Bool { level >= 25 }

    /// The corner where all coordinates are least.
    var lower: SIMD3<Double> {
        SIMD3(Double(x), Double(y), Double(z)) * side - Self.wholeSide / 2
    }

    /// The corner where all coordinates are greatest.
    var upper: SIMD3<Double> { lower + side }

    /// The eight cubes of half the side.
    var children: [OctreeCube] {
        (0..<8).map { (octant: Int32) in
            OctreeCube(
                level: level + 1, x: 2 * x + (octant & 1), y: 2 * y + (octant >> 1 & 1),
                z: 2 * z + (octant >> 2))
        }
    }
}
