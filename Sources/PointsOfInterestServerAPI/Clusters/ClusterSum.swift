import PointsOfInterestAPI

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

    /// Adds other places.
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
