import PointsOfInterestAPI
import Randomness

@testable import Geodesy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension [Candidate] {
    /// The ids in the order of distance, then id, by measuring every place.
    func scan(from center: Coordinate) -> [Int64] {
        map { (Geodesic.distanceMeters(from: center, to: $0), $0.id) }.sorted { $0 < $1 }.map(\.1)
    }
}

extension Coordinate {
    /// A coordinate made of any finite numbers: what is beyond a pole stays there, what is beyond the
    /// antimeridian comes from the other side.
    init(wrapped latitude: Double, _ longitude: Double) throws {
        try self.init(
            latitude: max(-90, min(90, latitude)),
            longitude: abs(longitude) <= 180 ? longitude : remainder(longitude, 360))
    }

    /// Anywhere, or where it is special: at a pole, on the equator, on a meridian that is a seam.
    static func random(using generator: inout SeededGenerator) throws -> Coordinate {
        let special: Double = [-90.0, 0, 90].randomElement(using: &generator) ?? 0
        let seam: Double = [-180.0, -90, -0.0, 0, 90, 180].randomElement(using: &generator) ?? 0
        func isSpecial() -> Bool { Int.random(in: 0..<4, using: &generator) == 0 }
        let latitude = isSpecial() ? special : Double.random(in: -90...90, using: &generator)
        let longitude = isSpecial() ? seam : Double.random(in: -180...180, using: &generator)
        return try Coordinate(latitude: latitude, longitude: longitude)
    }
}
