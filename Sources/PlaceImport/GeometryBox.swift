import PointsOfInterestAPI

/// The box around the positions of a geometry, as far as it says where a place is.
struct GeometryBox {
    private var latitudes: ClosedRange<Double>?
    private var longitudes: ClosedRange<Double>?
    /// The most western longitude of the eastern hemisphere and the most eastern one of the western.
    private var innermost: (east: Double, west: Double) = (.infinity, -.infinity)

    mutating func add(latitude: Double, longitude: Double) {
        latitudes =
            min(
                latitudes?.lowerBound ?? latitude, latitude)...max(
                latitudes?.upperBound ?? latitude, latitude)
        longitudes =
            min(
                longitudes?.lowerBound ?? longitude, longitude)...max(
                longitudes?.upperBound ?? longitude, longitude)
        if longitude >= 0 { innermost.east = min(innermost.east, longitude) }
        if longitude < 0 { innermost.west = max(innermost.west, longitude) }
    }

    /// The centre, in the unit of the positions, wherever these are; nil where there is no position.
    var plainCentre: (latitude: Double, longitude: Double)? {
        guard let latitudes, let longitudes else { return nil }
        return (
            (latitudes.lowerBound + latitudes.upperBound) / 2,
            (longitudes.lowerBound + longitudes.upperBound) / 2
        )
    }

    /// The centre in degrees, which for a point is the point; nil where there is no position. RFC 7946, section 3.1.9, has
    /// geometries cut at the antimeridian: where the parts are more than 180° apart, the box is the one across it.
    var centre: (latitude: Double, longitude: Double)? {
        guard let plain = plainCentre, let longitudes, isInDegrees,
            longitudes.upperBound - longitudes.lowerBound > 180
        else { return plainCentre }
        let across = (innermost.east + innermost.west + 360) / 2
        return (plain.latitude, across > 180 ? across - 360 : across)
    }

    private var isInDegrees: Bool {
        guard let latitudes, let longitudes else { return true }
        return Coordinate.latitudes.contains(latitudes.lowerBound)
            && Coordinate.latitudes.contains(latitudes.upperBound)
            && Coordinate.longitudes.contains(longitudes.lowerBound)
            && Coordinate.longitudes.contains(longitudes.upperBound)
    }

    /// Where a place is. Of a geometry without a position, fields may say it.
    /// Positions in another coordinate system (`isProjected`) may be anywhere.
    func position(isProjected: Bool) -> Row.Position {
        guard let centre = isProjected ? plainCentre : centre else { return .inFields }
        guard isProjected || isInDegrees else { return .rejected(.coordinatesOutOfRange) }
        return .known(latitude: centre.latitude, longitude: centre.longitude)
    }
}
