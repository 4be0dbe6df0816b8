import CPROJ
import PointsOfInterestAPI

/// Distances on the WGS 84 ellipsoid.
///
/// PROJ's `geodesic.h`, which PostGIS itself calls: C. F. F. Karney, "Algorithms for geodesics",
/// J. Geodesy 87, 43–55 (2013); exact to 15 nm for every pair of points, antipodes included.
public enum Geodesic {
    /// The length of the shortest path between two coordinates, in metres. Any thread.
    public static func distanceMeters(from start: Coordinate, to end: Coordinate) -> Double {
        distanceMeters(from: start, toLatitude: end.latitude, longitude: end.longitude)
    }

    /// The same for a place that a store proposes.
    public static func distanceMeters(from start: Coordinate, to candidate: Candidate) -> Double {
        distanceMeters(from: start, toLatitude: candidate.latitude, longitude: candidate.longitude)
    }

    private static func distanceMeters(
        from start: Coordinate, toLatitude latitude: Double, longitude: Double
    ) -> Double {
        var distance = 0.0
        geod_inverse(wgs84, start.latitude, start.longitude, latitude, longitude, &distance, nil, nil)
        return distance
    }

    // Written once, before the first reader gets the pointer, and constant from then on; C's routines
    // take it as const.
    private nonisolated(unsafe) static let wgs84: UnsafePointer<geod_geodesic> = {
        let geodesic = UnsafeMutablePointer<geod_geodesic>.allocate(capacity: 1)
        geod_init(geodesic, 6_378_137, 1 / 298.257_223_563)
        return UnsafePointer(geodesic)
    }()
}
