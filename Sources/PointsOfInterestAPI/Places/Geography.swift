#if canImport(CoreLocation)
    import CoreLocation
#endif

/// A position in WGS 84 degrees. Both numbers are always in range.
public struct Coordinate: Hashable, Sendable {
    /// The latitudes there are, in degrees.
    public static let latitudes = -90.0...90.0
    /// The longitudes there are, in degrees; −180 and 180 are the same meridian.
    public static let longitudes = -180.0...180.0

    /// Degrees north of the equator, −90…90.
    public let latitude: Double
    /// Degrees east of Greenwich, −180…180.
    public let longitude: Double

    /// Makes a coordinate from two finite numbers in range.
    ///
    /// - Throws: `RequestError.invalidCoordinate` for anything else, NaN and infinities included.
    public init(latitude: Double, longitude: Double) throws(RequestError) {
        // A range does not contain NaN.
        guard Self.latitudes.contains(latitude), Self.longitudes.contains(longitude) else {
            throw .invalidCoordinate
        }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Makes a coordinate from numbers that are known to be in range.
    package init(validLatitude latitude: Double, validLongitude longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A box between two parallels and two meridians, edges included, in WGS 84 degrees.
///
/// A box whose west edge is greater than its east edge crosses the antimeridian. −180 and 180 are one meridian. At a pole
/// all meridians meet: a box that touches a pole holds the places there, whatever their longitude.
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

    /// Makes a box of edges that are known to be in range and in order.
    package init(validWest west: Double, south: Double, east: Double, north: Double) {
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
    package var middle: Coordinate {
        let eastward = crossesAntimeridian ? east + 360 : east
        let halfway = (west + eastward) / 2
        return Coordinate(
            validLatitude: (south + north) / 2, validLongitude: halfway > 180 ? halfway - 360 : halfway)
    }

    private func containsLongitude(_ longitude: Double) -> Bool {
        crossesAntimeridian ? longitude >= west || longitude <= east : west <= longitude && longitude <= east
    }
}

extension Coordinate {
    /// Returns the nearest coordinate with at most this many decimals, 0 to 13. For more decimals it returns this one.
    package func rounded(toDecimals decimals: Int) -> Coordinate {
        let grid = DecimalGrid(decimals: decimals)
        return Coordinate(
            validLatitude: grid.nearest(to: latitude), validLongitude: grid.nearest(to: longitude))
    }
}

extension BoundingBox {
    /// Returns the smallest box around this one whose edges have at most this many decimals, 0 to 13. For more decimals
    /// it returns this one.
    package func expanded(toDecimals decimals: Int) -> BoundingBox {
        let grid = DecimalGrid(decimals: decimals)
        var (west, east) = (grid.below(west), grid.above(east))
        // The box left out only a narrow strip of longitudes, and rounding has closed the strip.
        if crossesAntimeridian, west <= east { (west, east) = (-180, 180) }
        return BoundingBox(west: west, south: grid.below(south), east: east, north: grid.above(north)) ?? self
    }
}

/// The numbers with at most a given number of decimals. The limits of coordinates are such numbers, so a rounded
/// coordinate stays within them.
private struct DecimalGrid {
    /// A power of ten, exactly; nil where every number is on the grid.
    private let scale: Double?

    init(decimals: Int) {
        // A longitude times 10^13 is a whole number that a `Double` holds exactly; times a larger power it isn't.
        scale = decimals > 13 ? nil : (0..<max(decimals, 0)).reduce(1) { power, _ in power * 10 }
    }

    func nearest(to value: Double) -> Double {
        guard let scale else { return value }
        // Adding 0 turns −0 into 0: −0 would be another text for the same place.
        return (value * scale).rounded() / scale + 0
    }

    func below(_ value: Double) -> Double {
        let nearest = nearest(to: value)
        guard let scale, nearest > value else { return nearest }
        return ((value * scale).rounded() - 1) / scale + 0
    }

    func above(_ value: Double) -> Double { 0 - below(-value) }
}

#if canImport(CoreLocation)
    extension Coordinate {
        /// Makes a coordinate from one of Core Location's, which may be invalid.
        ///
        /// - Throws: `RequestError.invalidCoordinate`, for `kCLLocationCoordinate2DInvalid` for instance.
        public init(_ coordinate: CLLocationCoordinate2D) throws(RequestError) {
            try self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
        }
    }

    extension CLLocationCoordinate2D {
        /// Makes Core Location's coordinate from this one.
        public init(_ coordinate: Coordinate) {
            self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
        }
    }
#endif
