import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The WGS 84 ellipsoid in space: geocentric coordinates in metres (EPSG 4978), as the database's
/// `geocentric_point` has them.
enum Ellipsoid {
    /// The semi-axes a, a and b, in metres.
    static let semiAxes = SIMD3(equatorialRadius, equatorialRadius, polarRadius)
    static let equatorialRadius = 6_378_137.0
    static let polarRadius = 6_356_752.314_245_179_5
    private static let eccentricitySquared = 0.006_694_379_990_141_316_5

    /// The point in space of a coordinate on the surface (EPSG method 9602).
    static func point(_ coordinate: Coordinate) -> SIMD3<Double> {
        let (phi, lambda) = (coordinate.latitude * .pi / 180, coordinate.longitude * .pi / 180)
        let normal = equatorialRadius / (1 - eccentricitySquared * sin(phi) * sin(phi)).squareRoot()
        return SIMD3(
            normal * cos(phi) * cos(lambda), normal * cos(phi) * sin(lambda),
            normal * (1 - eccentricitySquared) * sin(phi))
    }

    /// The surface's point on the ray from the Earth's centre through another point.
    static func surfacePoint(below point: SIMD3<Double>) -> SIMD3<Double> {
        let scaled = point / semiAxes
        return point / (scaled * scaled).sum().squareRoot()
    }

    /// The coordinate of a point on the surface; nil for what is no point.
    static func coordinate(_ point: SIMD3<Double>) -> Coordinate? {
        let distanceFromAxis = (point.x * point.x + point.y * point.y).squareRoot()
        let latitude = atan2(point.z, distanceFromAxis * (1 - eccentricitySquared)) * 180 / .pi
        return try? Coordinate(latitude: latitude, longitude: atan2(point.y, point.x) * 180 / .pi)
    }

    /// The latitude, in degrees, of the surface's points at a height over the equator's plane.
    static func latitude(atHeight z: Double) -> Double {
        let sine = max(-1, min(1, z / polarRadius))
        return atan2(equatorialRadius * sine, polarRadius * (1 - sine * sine).squareRoot()) * 180 / .pi
    }
}
