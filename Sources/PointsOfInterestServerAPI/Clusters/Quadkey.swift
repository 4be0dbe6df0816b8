import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The tile of Web Mercator that a place is in, at the finest level that clusters have. Its number has the bits of its
/// row and of its column in turn, the highest first. So the number of a larger tile is the beginning of its places'
/// quadkeys.
package struct Quadkey: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// The level of the finest tiles, two below the largest zoom: of 2^24 by 2^24.
    package static let levels = ClustersRequest.zooms.upperBound + 2
    /// The latitude at which the projection's square ends. The rows at its edges reach to the poles.
    private static let maximumLatitude = 85.0511287798066
    private static let tilesAcross = Double(1 << levels)

    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The tile of a position in degrees, in range.
    package init(latitude: Double, longitude: Double) {
        rawValue =
            Self.spread(Self.row(latitude: latitude)) << 1 | Self.spread(Self.column(longitude: longitude))
    }

    package static func < (one: Quadkey, other: Quadkey) -> Bool { one.rawValue < other.rawValue }

    /// The row and the column of the tile of a level up to `levels` that contains this one.
    package func tile(atLevel level: Int) -> (row: Int, column: Int) {
        let prefix = rawValue >> UInt64(2 * (Self.levels - level))
        return (Self.gather(prefix >> 1), Self.gather(prefix))
    }

    /// The row from the north (EPSG method 1024, on the sphere).
    static func row(latitude: Double) -> Int {
        let sine = sin(min(max(latitude, -maximumLatitude), maximumLatitude) * .pi / 180)
        return tile(0.5 - log((1 + sine) / (1 - sine)) / (4 * .pi))
    }

    /// The column from the antimeridian eastwards. 180 is −180.
    static func column(longitude: Double) -> Int {
        longitude == 180 ? 0 : tile((longitude + 180) / 360)
    }

    private static func tile(_ fraction: Double) -> Int {
        Int(min(max(fraction * tilesAcross, 0), tilesAcross - 1))
    }

    /// The low 32 bits of a number, with a zero before each.
    private static func spread(_ number: Int) -> UInt64 {
        var bits = UInt64(truncatingIfNeeded: number) & 0xFFFF_FFFF
        bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
        bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits << 2) & 0x3333_3333_3333_3333
        return (bits | bits << 1) & 0x5555_5555_5555_5555
    }

    /// Every second bit of a number, from its lowest one on.
    private static func gather(_ number: UInt64) -> Int {
        var bits = number & 0x5555_5555_5555_5555
        bits = (bits | bits >> 1) & 0x3333_3333_3333_3333
        bits = (bits | bits >> 2) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits >> 4) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits >> 8) & 0x0000_FFFF_0000_FFFF
        bits = (bits | bits >> 16) & 0x0000_0000_FFFF_FFFF
        return Int(truncatingIfNeeded: bits)
    }
}
