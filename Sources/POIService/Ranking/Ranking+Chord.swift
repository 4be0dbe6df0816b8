#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What a chord, the straight line through the Earth between two points of the ellipsoid, tells of the
/// geodesic between them.
///
/// A geodesic's curvature is everywhere between those of two circles: 1/(a²/b), the ellipsoid's least, which
/// it has at the poles, and 1/(b²/a), its greatest, along the meridian at the equator. So it is as long as an
/// arc over its chord on a sphere of a radius between b²/a and a²/b. The upper bound is Schur's comparison
/// theorem; the lower one was checked with 40 million pairs of points, those near the poles, where it is
/// sharp, and those near each other's antipodes weighted up.
extension Ranking {
    /// a²/b of WGS 84, in metres.
    private static let maximumCurvatureRadius = 6_399_593.625_8
    /// b²/a of WGS 84, in metres.
    private static let leastCurvatureRadius = 6_335_439.327_3

    /// More than the rounding of coordinates, chords and arcs adds up to, in metres.
    public static let roundingMarginMeters = 1e-6

    /// Beyond this chord its bounds lie centimetres apart, and hardly ever decide.
    static let maximumUsefulChordMeters = 100_000.0

    /// No geodesic over this chord is shorter.
    package static func leastGeodesicMeters(chordMeters: Double) -> Double {
        let diameter = 2 * maximumCurvatureRadius
        return diameter * asin(min(1, chordMeters / diameter)) - roundingMarginMeters
    }

    /// Schur's theorem compares with a circle's arc of at most half a turn, 19,903 km. What is farther apart
    /// is nearly opposite, 12,400 km of chord at least.
    private static let maximumComparableChordMeters = 12_000_000.0

    /// No geodesic over this chord is longer; infinite for chords that tell nothing.
    static func maximumGeodesicMeters(chordMeters: Double) -> Double {
        guard chordMeters <= maximumComparableChordMeters else { return .infinity }
        let diameter = 2 * leastCurvatureRadius
        return diameter * asin(min(1, chordMeters / diameter)) + roundingMarginMeters
    }

    /// A chord whose geodesics, and those of all shorter ones, are at most this long: the reverse of
    /// `maximumGeodesicMeters`.
    package static func chordMeters(ofGeodesicAtMost meters: Double) -> Double {
        let diameter = 2 * leastCurvatureRadius
        let arc = max(0, meters - roundingMarginMeters)
        return min(maximumComparableChordMeters, diameter * sin(min(arc / diameter, .pi / 2)))
    }

    /// No geodesic of this length, or shorter, has a longer chord.
    static func maximumChordMeters(geodesicMeters: Double) -> Double {
        let diameter = 2 * maximumCurvatureRadius
        return diameter * sin(min(geodesicMeters / diameter, .pi / 2)) + roundingMarginMeters
    }
}
