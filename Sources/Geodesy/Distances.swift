import PointsOfInterestAPI
import PointsOfInterestServerAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Distances on the WGS 84 ellipsoid.
///
/// Exact to 15 nm for every pair of points, antipodes included, and within that the same on every system: see
/// ``InverseGeodesic``.
package enum Geodesic {
    /// The length of the shortest path between two coordinates, in metres. Any thread.
    package static func distanceMeters(from start: Coordinate, to end: Coordinate) -> Double {
        distanceMeters(from: start, toLatitude: end.latitude, longitude: end.longitude)
    }

    /// The same for a place that a store proposes.
    package static func distanceMeters(from start: Coordinate, to candidate: Candidate) -> Double {
        distanceMeters(from: start, toLatitude: candidate.latitude, longitude: candidate.longitude)
    }

    private static func distanceMeters(
        from start: Coordinate, toLatitude latitude: Double, longitude: Double
    ) -> Double {
        InverseGeodesic.meters(
            fromLatitude: start.latitude, longitude: start.longitude, toLatitude: latitude,
            longitude: longitude)
    }
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

    /// An upper bound of what the rounding of coordinates, chords and arcs adds up to, in metres.
    package static let roundingMarginMeters = 1e-6

    /// A lower bound for the length of a geodesic over this chord, in metres.
    package static func minimumGeodesicMeters(chordMeters: Double) -> Double {
        arcMeters(chordMeters: chordMeters, diameter: 2 * maximumCurvatureRadius) - roundingMarginMeters
    }

    /// The arc over a chord of a circle, at most half a turn.
    private static func arcMeters(chordMeters: Double, diameter: Double) -> Double {
        diameter * asin(min(1, chordMeters / diameter))
    }

    /// Schur's theorem compares with a circle's arc of at most half a turn, 19,903 km. Points that are farther apart are
    /// nearly antipodes, with a chord of at least 12,400 km.
    private static let maximumComparableChordMeters = 12_000_000.0

    /// An upper bound for the length of a geodesic over this chord, in metres; infinite for chords that tell nothing.
    package static func maximumGeodesicMeters(chordMeters: Double) -> Double {
        guard chordMeters <= maximumComparableChordMeters else { return .infinity }
        return arcMeters(chordMeters: chordMeters, diameter: 2 * minimumCurvatureRadius)
            + roundingMarginMeters
    }

    /// A chord such that the geodesics of all longer chords are longer than `meters`: the reverse of `minimumGeodesicMeters`.
    /// Infinite for distances for which there is no such chord.
    package static func chordMeters(ofGeodesicBeyond meters: Double) -> Double {
        let diameter = 2 * maximumCurvatureRadius
        let angle = (meters + 2 * roundingMarginMeters) / diameter
        return angle < .pi / 2 ? diameter * sin(max(0, angle)) + roundingMarginMeters : .infinity
    }

    /// A chord such that its geodesics, and those of all shorter chords, are at most `meters` long: the reverse of
    /// `maximumGeodesicMeters`.
    package static func chordMeters(ofGeodesicAtMost meters: Double) -> Double {
        let diameter = 2 * minimumCurvatureRadius
        let arc = max(0, meters - roundingMarginMeters)
        return min(maximumComparableChordMeters, diameter * sin(min(arc / diameter, .pi / 2)))
    }
}

/// What the positions of two points in space tell about the geodesic between them.
///
/// The plane through both points that is upright on the ellipsoid midway cuts it along an ellipse. The arc of that ellipse
/// from one point to the other is longer than the geodesic by less than 1e-34/m⁴ · c⁵, where c is the chord (R. H. Rapp,
/// "Geometric Geodesy", part 1, on normal sections). It is also the arc of a circle of radius r, but for a part δ/15 · c ·
/// (c/2r)⁴, which follows from the first variation of an arc's length; δ is how much the ellipse's curvature along the chord
/// differs from that across it, at most e'² = 0.00674. That is 1.75e-32/m⁴ · c⁵ at most, on the meridian at the equator. Among
/// nine million pairs of points, the difference was up to 1.732e-32/m⁴ · c⁵.
///
/// With the ellipsoid as x·Ax = a², the chord's vector d and the sum s of both points, (2r)² = c² + |As|² / (d·Ad/c²)².
extension Ranking {
    /// a²/b².
    @usableFromInline static let stretch = 1 / (1 - 0.006_694_379_990_141_316_5)
    /// The bounds are off by less than this many times the chord's fifth power, in metres.
    @usableFromInline static let sectionMargin = 2e-32
    /// For longer chords these bounds are more than four centimetres apart, and hardly decide a distance's tenth of a metre.
    @usableFromInline package static let maximumSectionChordMeters = 1_000_000.0

    /// The minimum and the maximum geodesic between two points of the ellipsoid; nil where they are too far apart to tell.
    @inlinable
    @inline(__always)
    package static func geodesicBounds(
        from start: SIMD3<Double>, to end: SIMD3<Double>
    ) -> (minimum: Double, maximum: Double)? {
        let (dx, dy, dz) = (end.x - start.x, end.y - start.y, end.z - start.z)
        let (sx, sy, sz) = (end.x + start.x, end.y + start.y, end.z + start.z)
        let square = dx * dx + dy * dy + dz * dz
        // Up to a kilometre, arcs of the smallest and of the largest radius of curvature differ by 2e-8 m: c³/24r².
        guard square > 1e6 else {
            let arc = square.squareRoot() * (1 + square * 1.0278e-15)
            return (arc - 2e-8 - roundingMarginMeters, arc + 2e-8 + roundingMarginMeters)
        }
        guard square < maximumSectionChordMeters * maximumSectionChordMeters else {
            return longGeodesicBounds(from: start, to: end, square: square)
        }
        let stretchedChord = square + (stretch - 1) * dz * dz
        let stretchedSum = sx * sx + sy * sy + stretch * stretch * sz * sz
        let squareOfBoth = stretchedChord * stretchedChord
        // (c/2r)²; 0 where both are one point.
        let ratio = squareOfBoth / max(squareOfBoth + stretchedSum * square, .leastNormalMagnitude)
        let chord = square.squareRoot()
        // The series of asin: what is left out is less than a micrometre.
        let series = 1 / 6 + ratio * (3 / 40 + ratio * (5 / 112 + ratio * (35 / 1152)))
        let arc = chord * (1 + ratio * series)
        let margin = roundingMarginMeters + sectionMargin * square * square * chord
        return (arc - margin, arc + margin)
    }
}

/// The minimum and the maximum of a candidate's geodesic distance, in metres; equal once it is measured.
@usableFromInline
package struct DistanceBounds {
    @usableFromInline package let index: Int
    /// The candidate's id.
    @usableFromInline package let id: Int64
    @usableFromInline package internal(set) var minimum, maximum: Double
    /// The upper bound from before `measure(by:)`. `Ranking` uses it to find candidates whose bounds overlap.
    @usableFromInline var maximumBeforeMeasuring: Double

    /// Takes the bounds that are known; otherwise measures the distance.
    @inlinable
    @inline(__always)
    package init(
        index: Int, id: Int64, _ bounds: (minimum: Double, maximum: Double)?,
        measuring measure: (_ index: Int) -> Double
    ) {
        self.index = index
        self.id = id
        if let bounds {
            (minimum, maximum) = bounds
        } else {
            minimum = measure(index)
            maximum = minimum
        }
        maximumBeforeMeasuring = maximum
    }

    /// Computes the geodesic, unless that was done.
    package mutating func measure(by measure: (_ index: Int) -> Double) {
        guard minimum < maximum else { return }
        minimum = measure(index)
        maximum = minimum
    }

    /// Whether the candidate is farther than `meters`; measures where the bounds don't decide.
    package func isBeyond(_ meters: Double, measuring measure: (_ index: Int) -> Double) -> Bool {
        if minimum > meters { return true }
        if maximum <= meters { return false }
        return measure(index) > meters
    }

    /// Whether the candidate comes behind a position in the order; measures where the bounds don't decide.
    package func isBehind(_ position: PagePosition, measuring measure: (_ index: Int) -> Double) -> Bool {
        if minimum > position.distanceMeters { return true }
        if maximum < position.distanceMeters { return false }
        let distance = minimum == maximum ? minimum : measure(index)
        return (position.distanceMeters, position.id) < (distance, id)
    }

    /// Whether the candidate comes before another one, by the lower bounds.
    static func isBefore(_ one: DistanceBounds, _ other: DistanceBounds) -> Bool {
        one.minimum < other.minimum || one.minimum == other.minimum && one.id < other.id
    }

    /// Whether one candidate comes before another one; measures both where the bounds don't decide.
    package static func isBefore(
        _ one: inout DistanceBounds, _ other: inout DistanceBounds,
        measuring measure: (_ index: Int) -> Double
    ) -> Bool {
        if one.maximum < other.minimum { return true }
        if other.maximum < one.minimum { return false }
        one.measure(by: measure)
        other.measure(by: measure)
        return isBefore(one, other)
    }

    /// Whether both bounds are the same to a tenth of a metre, which is what responses show.
    ///
    /// The sum with 2^52 is rounded to a whole number, without a function call. Bounds that aren't equal are at least a
    /// micrometre away from the distance on either side, so it doesn't matter which way halves are rounded.
    package var decideTenths: Bool { minimum * 10 + 0x1p52 == maximum * 10 + 0x1p52 || minimum == maximum }
}

/// The WGS 84 ellipsoid in space, with coordinates in metres from the Earth's centre.
package enum Ellipsoid {
    /// The semi-axes a, a and b, in metres.
    package static let semiAxes = SIMD3(a, a, b)
    private static let a = 6_378_137.0
    private static let b = 6_356_752.314_245_179_5
    private static let eccentricitySquared = 0.006_694_379_990_141_316_5
    /// An upper bound of what the rounding of coordinates, chords and arcs adds up to, in metres.
    package static let margin = Ranking.roundingMarginMeters

    /// The point of a coordinate, as the database's `geocentric_point` computes it (EPSG method 9602).
    package static func point(_ coordinate: Coordinate) -> SIMD3<Double> {
        point(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }

    /// The same for degrees.
    package static func point(latitude: Double, longitude: Double) -> SIMD3<Double> {
        let (phi, lambda) = (latitude * .pi / 180, longitude * .pi / 180)
        let (sine, cosine) = (sin(phi), cos(phi))
        let normal = a / (1 - eccentricitySquared * sine * sine).squareRoot()
        return SIMD3(
            normal * cosine * cos(lambda), normal * cosine * sin(lambda),
            normal * (1 - eccentricitySquared) * sine)
    }

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

    /// An upper bound for the length of a geodesic over this chord, in metres.
    ///
    /// The ellipsoid, stretched along its axis by a/b, is the sphere of radius a. Stretching lengthens no chord by more than
    /// a/b, and shortens no path, and on the sphere the length of the arc is known.
    package static func maximumGeodesicMeters(chordMeters: Double) -> Double {
        let diameter = 2 * a
        return diameter * asin(min(1, chordMeters * (a / b) / diameter)) + margin
    }
}
