/// The places between two parallels and two meridians, edges included, in WGS 84 degrees.
///
/// A west edge that is greater than the east edge crosses the antimeridian. −180 and 180 are one meridian.
/// At a pole all meridians meet: a box that touches it holds the places at the pole, whatever their longitude.
public struct BoundingBox: Hashable, Sendable {
    /// The western edge, −180…180.
    public let west: Double
    /// The southern edge, −90…90, at most `north`.
    public let south: Double
    /// The eastern edge, −180…180.
    public let east: Double
    /// The northern edge, −90…90.
    public let north: Double

    /// Makes a box; nil where an edge is out of range or south is beyond north.
    public init?(west: Double, south: Double, east: Double, north: Double) {
        // A range does not contain NaN.
        guard Coordinate.longitudes.contains(west), Coordinate.longitudes.contains(east),
            Coordinate.latitudes.contains(south), Coordinate.latitudes.contains(north), south <= north
        else { return nil }
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    /// Whether the box reaches across the antimeridian.
    public var crossesAntimeridian: Bool { west > east }

    /// Whether a position is in the box or on its edge; at a pole, any longitude names the same position.
    public func contains(latitude: Double, longitude: Double) -> Bool {
        guard south <= latitude, latitude <= north else { return false }
        if abs(latitude) == 90 || containsLongitude(longitude) { return true }
        return abs(longitude) == 180 && containsLongitude(-longitude)
    }

    /// The point half-way between the parallels and between the meridians.
    public var middle: Coordinate {
        let eastward = crossesAntimeridian ? east + 360 : east
        let halfway = (west + eastward) / 2
        return Coordinate(
            validLatitude: (south + north) / 2, validLongitude: halfway > 180 ? halfway - 360 : halfway)
    }

    private func containsLongitude(_ longitude: Double) -> Bool {
        crossesAntimeridian ? longitude >= west || longitude <= east : west <= longitude && longitude <= east
    }
}
