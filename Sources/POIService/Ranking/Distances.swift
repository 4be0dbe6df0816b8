import CPROJ
import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Distances on the WGS 84 ellipsoid.
///
/// Computed by PROJ's `geodesic.h`, as PostGIS does: C. F. F. Karney, "Algorithms for geodesics", J. Geodesy 87, 43–55
/// (2013); exact to 15 nm for every pair of points, antipodes included.
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

/// What a chord, the straight line through the Earth between two points of the ellipsoid, tells about the geodesic
/// between them.
///
/// A geodesic's curvature is everywhere between those of two circles: 1/(a²/b), the ellipsoid's minimum, at the poles,
/// and 1/(b²/a), its maximum, along the meridian at the equator. So the geodesic is as long as an arc over its chord on a
/// sphere with a radius between b²/a and a²/b. The upper bound is Schur's comparison theorem. The lower one was checked
/// with 40 million pairs of points, with more of those near the poles, where it is sharp, and near each other's
/// antipodes.
extension Ranking {
    /// a²/b of WGS 84, in metres.
    private static let maximumCurvatureRadius = 6_399_593.625_8
    /// b²/a of WGS 84, in metres.
    private static let minimumCurvatureRadius = 6_335_439.327_3

    /// More than the rounding of coordinates, chords and arcs adds up to, in metres.
    public static let roundingMarginMeters = 1e-6

    /// Beyond this chord its bounds are centimetres apart, and hardly ever decide.
    static let maximumUsefulChordMeters = 100_000.0

    /// No geodesic over this chord is shorter.
    package static func minimumGeodesicMeters(chordMeters: Double) -> Double {
        let diameter = 2 * maximumCurvatureRadius
        return diameter * asin(min(1, chordMeters / diameter)) - roundingMarginMeters
    }

    /// Schur's theorem compares with a circle's arc of at most half a turn, 19,903 km. Points that are farther apart are
    /// nearly antipodes, with a chord of at least 12,400 km.
    private static let maximumComparableChordMeters = 12_000_000.0

    /// No geodesic over this chord is longer; infinite for chords that tell nothing.
    static func maximumGeodesicMeters(chordMeters: Double) -> Double {
        guard chordMeters <= maximumComparableChordMeters else { return .infinity }
        let diameter = 2 * minimumCurvatureRadius
        return diameter * asin(min(1, chordMeters / diameter)) + roundingMarginMeters
    }

    /// A chord whose geodesics, and those of all shorter ones, are at most this long: the reverse of
    /// `maximumGeodesicMeters`.
    package static func chordMeters(ofGeodesicAtMost meters: Double) -> Double {
        let diameter = 2 * minimumCurvatureRadius
        let arc = max(0, meters - roundingMarginMeters)
        return min(maximumComparableChordMeters, diameter * sin(min(arc / diameter, .pi / 2)))
    }
}

/// The minimum and the maximum of a candidate's geodesic distance, in metres; equal once it is measured.
struct DistanceBounds {
    let index: Int
    let id: Int64
    private(set) var minimum: Double
    private(set) var maximum: Double
    /// The upper bound that the first sorting went by.
    private(set) var maximumBeforeMeasuring: Double

    /// Bounds by the candidate's chord where it has one; else measures.
    init(of candidates: [Candidate], at index: Int, from center: Coordinate) {
        self.index = index
        id = candidates[index].id
        if let chord = candidates[index].chordMeters, chord < Ranking.maximumUsefulChordMeters {
            minimum = Ranking.minimumGeodesicMeters(chordMeters: chord)
            maximum = Ranking.maximumGeodesicMeters(chordMeters: chord)
        } else {
            minimum = Geodesic.distanceMeters(from: center, to: candidates[index])
            maximum = minimum
        }
        maximumBeforeMeasuring = maximum
    }

    /// Computes the geodesic, unless that was done.
    mutating func measure(_ candidates: [Candidate], _ center: Coordinate) {
        guard minimum < maximum else { return }
        minimum = Geodesic.distanceMeters(from: center, to: candidates[index])
        maximum = minimum
    }

    /// Whether the candidate is farther than `meters`; measures where the bounds don't decide.
    func isBeyond(_ meters: Double, _ candidates: [Candidate], _ center: Coordinate) -> Bool {
        if minimum > meters { return true }
        if maximum <= meters { return false }
        return Geodesic.distanceMeters(from: center, to: candidates[index]) > meters
    }

    /// Whether the candidate comes behind a position in the order; measures where the bounds don't decide.
    func isBehind(_ position: PagePosition, _ candidates: [Candidate], _ center: Coordinate) -> Bool {
        if minimum > position.distanceMeters { return true }
        if maximum < position.distanceMeters { return false }
        let distance =
            minimum == maximum ? minimum : Geodesic.distanceMeters(from: center, to: candidates[index])
        return (position.distanceMeters, position.id) < (distance, id)
    }

    /// Whether both bounds are the same to a tenth of a metre, which is what responses show.
    var decideTenths: Bool { (minimum * 10).rounded() == (maximum * 10).rounded() }
}
