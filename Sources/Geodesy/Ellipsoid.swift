import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The WGS 84 ellipsoid in space, with coordinates in metres from the Earth's centre.
package enum Ellipsoid {
    /// The semi-axes a, a and b, in metres.
    package static let semiAxes = SIMD3(a, a, b)
    private static let a = 6_378_137.0
    private static let b = 6_356_752.314_245_179_5
    private static let eccentricitySquared = 0.006_694_379_990_141_316_5
    /// More than the rounding of coordinates, chords and arcs adds up to, in metres.
    package static let margin = Ranking.roundingMarginMeters

    /// The point of a coordinate, as the database's `geocentric_point` computes it (EPSG method 9602).
    package static func point(_ coordinate: Coordinate) -> SIMD3<Double> {
        let (phi, lambda) = (coordinate.latitude * .pi / 180, coordinate.longitude * .pi / 180)
        let (sine, cosine) = (sin(phi), cos(phi))
        let normal = a / (1 - eccentricitySquared * sine * sine).squareRoot()
        return SIMD3(
            normal * cosine * cos(lambda), normal * cosine * sin(lambda),
            normal * (1 - eccentricitySquared) * sine)
    }

    /// The surface's point on the ray from the Earth's centre through another point, and its coordinate.
    package static func surface(below point: SIMD3<Double>) -> (point: SIMD3<Double>, coordinate: Coordinate)?
    {
        let scaled = point / semiAxes
        let surface = point / (scaled * scaled).sum().squareRoot()
        let fromAxis = (surface.x * surface.x + surface.y * surface.y).squareRoot()
        let latitude = atan2(surface.z, fromAxis * (1 - eccentricitySquared)) * 180 / .pi
        let longitude = atan2(surface.y, surface.x) * 180 / .pi
        guard let coordinate = try? Coordinate(latitude: latitude, longitude: longitude) else { return nil }
        return (surface, coordinate)
    }

    /// The latitude of the surface's points at a height over the equator's plane, in degrees.
    package static func latitude(atHeight height: Double) -> Double {
        let sine = min(1, max(-1, height / b))
        return atan2(a * sine, b * (1 - sine * sine).squareRoot()) * 180 / .pi
    }

    /// No geodesic over a chord is longer, in metres.
    ///
    /// Stretched along its axis by a/b, the ellipsoid becomes the sphere of radius a. That lengthens no chord
    /// by more than a/b, and shortens no path; and on the sphere the arc is known.
    package static func maximumGeodesicMeters(chordMeters: Double) -> Double {
        let diameter = 2 * a
        return diameter * asin(min(1, chordMeters * (a / b) / diameter)) + margin
    }
}
