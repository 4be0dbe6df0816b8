import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The cells that a box touches: those that a place in the box can be in. They are numbered from north to south, and in
/// each row from the box's west to its east.
package struct ClusterCells: Hashable, Sendable {
    /// The level of the cells' tiles.
    package let level: Int
    private let rows: ClosedRange<Int>
    private let firstColumn: Int
    private let columnCount: Int

    package init(_ request: ClustersRequest) {
        self.init(request.box, zoom: request.zoom)
    }

    package init(_ box: BoundingBox, zoom: Int) {
        level = zoom + 2
        let shift = Quadkey.levels - level
        rows = Quadkey.row(latitude: box.north) >> shift...Quadkey.row(latitude: box.south) >> shift
        firstColumn = Quadkey.column(longitude: box.west) >> shift
        let tilesAcross = 1 << level
        var lastColumn = Quadkey.column(longitude: box.east) >> shift
        // A box that reaches the antimeridian from the west touches the first column beyond it, where 180 is.
        let endsAtAntimeridian = box.east == 180 && box.west != 180
        let west = box.west == 180 ? -180 : box.west
        if west > box.east || endsAtAntimeridian { lastColumn += tilesAcross }
        columnCount = min(tilesAcross, lastColumn - firstColumn + 1)
    }

    /// How many there are.
    package var count: Int { rows.count * columnCount }

    /// The number of the cell that a place is in; nil if it is in none of these.
    package func cell(of quadkey: Quadkey) -> Int? {
        let (row, column) = quadkey.tile(atLevel: level)
        guard rows.contains(row) else { return nil }
        let eastward = (column - firstColumn) & (1 << level - 1)
        return eastward < columnCount ? (row - rows.lowerBound) * columnCount + eastward : nil
    }

    /// Whether a tile contains any of the cells. Its level is at most that of the cells.
    package func touches(row: Int, column: Int, ofLevel tileLevel: Int) -> Bool {
        let shift = level - tileLevel
        let (firstRow, lastRow) = (row << shift, (row + 1) << shift - 1)
        guard firstRow <= rows.upperBound, rows.lowerBound <= lastRow else { return false }
        let tilesAcross = 1 << level
        let (west, east) = (column << shift, (column + 1) << shift - 1)
        let lastColumn = firstColumn + columnCount - 1
        return west <= lastColumn && firstColumn <= east
            || west + tilesAcross <= lastColumn && firstColumn <= east + tilesAcross
    }
}

/// The number, the mean position and the box of some places of a cell. Positions are added as whole numbers, so the sum
/// is the same however the places are divided into partial sums.
package struct ClusterSum: Hashable, BitwiseCopyable, Sendable {
    /// Positions are added in ten-millionths of a degree, about a centimetre. Even 2^32 places, more than an index has,
    /// don't make the sums overflow.
    private static let unitsPerDegree = 1e7

    package private(set) var count = 0
    private var latitudeSum: Int64 = 0
    private var longitudeSum: Int64 = 0
    private var south = Double.infinity
    private var north = -Double.infinity
    private var west = Double.infinity
    private var east = -Double.infinity

    /// No place.
    package init() {}

    /// Adds a place at a position in degrees, in range.
    @inline(__always)
    package mutating func add(latitude: Double, longitude: Double) {
        // Adding 0 turns −0 into 0: the order of the two zeros isn't defined.
        let latitude = latitude + 0
        let longitude = longitude == 180 ? -180 : longitude + 0
        count += 1
        latitudeSum += Self.units(latitude)
        longitudeSum += Self.units(longitude)
        south = min(south, latitude)
        north = max(north, latitude)
        west = min(west, longitude)
        east = max(east, longitude)
    }

    /// The nearest whole number of units. `rounded()` would be a call of the C library.
    @inline(__always)
    private static func units(_ degrees: Double) -> Int64 {
        Int64(degrees * unitsPerDegree + (degrees < 0 ? -0.5 : 0.5))
    }

    @inline(__always)
    package mutating func add(_ other: ClusterSum) {
        count += other.count
        latitudeSum += other.latitudeSum
        longitudeSum += other.longitudeSum
        south = min(south, other.south)
        north = max(north, other.north)
        west = min(west, other.west)
        east = max(east, other.east)
    }

    /// The smallest box around the places; nil where there are none.
    package var box: BoundingBox? { BoundingBox(west: west, south: south, east: east, north: north) }

    /// The mean position. It is in the box, also where rounding would move it out.
    package var mean: (latitude: Double, longitude: Double) {
        (
            min(max(degrees(latitudeSum), south), north), min(max(degrees(longitudeSum), west), east)
        )
    }

    private func degrees(_ sum: Int64) -> Double {
        (Double(sum) / Double(max(1, count))).rounded() / Self.unitsPerDegree + 0
    }
}

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
