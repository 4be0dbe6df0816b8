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

    /// The point in space of a position on the surface, in degrees (EPSG method 9602).
    static func point(latitude: Double, longitude: Double) -> SIMD3<Double> {
        let (phi, lambda) = (latitude * .pi / 180, longitude * .pi / 180)
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

    /// How high over the equator's plane the surface's points of a latitude are, in metres.
    static func height(atLatitude latitude: Double) -> Double {
        point(latitude: latitude, longitude: 0).z
    }
}
