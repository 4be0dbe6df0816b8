import PointsOfInterestAPI
import Randomness

/// Positions with any number of digits, and edges.
enum RandomPosition {
    static func coordinate(using random: inout SeededGenerator) -> Coordinate? {
        try? Coordinate(
            latitude: degrees(in: Coordinate.latitudes, using: &random),
            longitude: degrees(in: Coordinate.longitudes, using: &random))
    }

    static func box(using random: inout SeededGenerator) -> BoundingBox? {
        let latitudes = [0, 1].map { _ in degrees(in: Coordinate.latitudes, using: &random) }.sorted()
        return BoundingBox(
            west: degrees(in: Coordinate.longitudes, using: &random), south: latitudes[0],
            east: degrees(in: Coordinate.longitudes, using: &random), north: latitudes[1])
    }

    /// Full precision, a map's precision, next to nothing, and the edges.
    static func degrees(in range: ClosedRange<Double>, using random: inout SeededGenerator) -> Double {
        let number = Double.random(in: range, using: &random)
        return switch Int.random(in: 0..<5, using: &random) {
        case 0: number
        case 1: (number * 10_000).rounded(.towardZero) / 10_000
        case 2: number * 1e-12
        case 3: range.lowerBound
        default: range.upperBound
        }
    }
}
