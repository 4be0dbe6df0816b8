/// A position in WGS 84 degrees; one that exists is valid.
public struct Coordinate: Hashable, Sendable {
    /// The latitudes there are, in degrees.
    public static let latitudes = -90.0...90.0
    /// The longitudes there are, in degrees; −180 and 180 are the same meridian.
    public static let longitudes = -180.0...180.0

    /// Degrees north of the equator, −90…90.
    public let latitude: Double
    /// Degrees east of Greenwich, −180…180.
    public let longitude: Double

    /// Makes a coordinate of two finite numbers in range.
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

    /// Makes a coordinate of numbers that are known to be in range.
    init(validLatitude latitude: Double, validLongitude longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}
