import Locking
import POIService
import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How many places are near, for each degree of latitude and longitude: learned from all searches of a process.
///
/// The walk to the nearest places by the chord is the cheapest way to a page, but from the other side of the
/// Earth all chords are nearly as long, and it would read all of the index (8736 of its pages for 24 places). So
/// it is taken only where as many places as it proposes are known to be near. This knowledge becomes wrong when
/// places are deleted; that costs time, never exactness.
///
/// Any thread.
final class InhabitedRegions: Sendable {
    /// Nearer than this the walk is cheap: 40 pages for 24 places, and 58 at 11,800 km.
    static let maximumDistanceMeters = 5_000_000.0

    /// For each cell, a number of places that every point of it has within that distance.
    private let counts = Lock([UInt16](repeating: 0, count: Row.all.count * Row.columnCount))

    /// Whether at least so many places are known to be near a coordinate.
    func hasPlaces(_ count: Int, near center: Coordinate) -> Bool {
        counts.withLock { $0[Self.cell(of: center)] >= count }
    }

    /// Learns that so many places are at most so far from a coordinate.
    ///
    /// By the triangle inequality they are near every point that is near enough to the coordinate. That takes
    /// up to a tenth of a millisecond, so it is for callers that have found `hasPlaces` to be false.
    func learn(_ count: Int, within meters: Double, of center: Coordinate) {
        // A metre is more than everything below is rounded by.
        let reach = Self.maximumDistanceMeters - meters - 1
        guard reach > 0, let count = UInt16(exactly: count) else { return }
        let point = Ellipsoid.point(center)
        counts.withLock { counts in
            for row in Row.all {
                for column in row.columns(within: reach, of: point, longitude: center.longitude) {
                    let cell = row.number * Row.columnCount + (column + Row.columnCount) % Row.columnCount
                    counts[cell] = max(counts[cell], count)
                }
            }
        }
    }

    /// Forgets that so many places are near a coordinate; fewer are still known to be near.
    func forget(_ count: Int, near center: Coordinate) {
        guard let fewer = UInt16(exactly: count - 1) else { return }
        counts.withLock { counts in
            let cell = Self.cell(of: center)
            counts[cell] = min(counts[cell], fewer)
        }
    }

    /// Every coordinate is in range.
    private static func cell(of center: Coordinate) -> Int {
        let row = min(Row.all.count - 1, Int(center.latitude + 90))
        return row * Row.columnCount + min(Row.columnCount - 1, Int(center.longitude + 180))
    }
}

/// The cells between two parallels.
private struct Row {
    static let columnCount = 360
    static let all = (0..<180).compactMap(Row.init)

    let number: Int
    /// Of the cells' middles, in metres.
    private let (distanceFromAxis, height): (Double, Double)
    /// No point of a cell is farther from the cell's middle, in metres.
    private let radius: Double

    private init?(number: Int) {
        self.number = number
        guard let middle = try? Coordinate(latitude: Double(number) - 89.5, longitude: 0) else { return nil }
        let point = Ellipsoid.point(middle)
        (distanceFromAxis, height) = (point.x, point.z)
        // To a point of the cell goes a path along the meridian, then along the point's parallel: half a degree
        // each at most, on circles no larger than a²/b (6,399,594 m) and than that times the latitude's cosine.
        let widest = cos((abs(middle.latitude) - 0.5) * .pi / 180)
        radius = 6_400_000 * (0.5 * .pi / 180) * (1 + widest)
    }

    /// The columns, each modulo 360, of cells that lie wholly within a geodesic distance of a point.
    func columns(within meters: Double, of point: SIMD3<Double>, longitude: Double) -> Range<Int> {
        let none = 0..<0
        guard meters > radius else { return none }
        let chord = Ranking.chordMeters(ofGeodesicAtMost: meters - radius)
        // chord² = (r − r₀)² + (z − z₀)² + 2 r r₀ (1 − cos Δλ), with r the distances from the Earth's axis.
        let pointFromAxis = (point.x * point.x + point.y * point.y).squareRoot()
        let (apart, above) = (distanceFromAxis - pointFromAxis, height - point.z)
        let rest = chord * chord - apart * apart - above * above
        guard rest > 0 else { return none }
        let cosine = 1 - rest / (2 * distanceFromAxis * pointFromAxis)
        // At a pole the division may be by 0: every longitude is as far.
        guard cosine > -1 else { return 0..<Self.columnCount }
        let turn = acos(cosine) * 180 / .pi
        let (first, last) = (
            (longitude - turn + 179.5).rounded(.up), (longitude + turn + 179.5).rounded(.down)
        )
        return first <= last ? Int(first)..<min(Int(last) + 1, Int(first) + Self.columnCount) : none
    }
}
