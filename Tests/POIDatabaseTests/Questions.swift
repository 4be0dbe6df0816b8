import Foundation
import POIService
import PointsOfInterestAPI
import Randomness

/// Requests about some places that ask for trouble.
struct Questions {
    /// Knows the answers: measures the places one by one.
    let truth: FixtureStore

    private let places: [Coordinate]
    private let focus: Coordinate
    private var generator: SeededGenerator

    /// - Parameter focus: a point that many places stand around, or are equally far from.
    init(about places: [PointOfInterest], around focus: Coordinate, using generator: SeededGenerator) {
        truth = FixtureStore(places)
        self.places = places.map { Coordinate(wrapping: $0.latitude, $0.longitude) }
        self.focus = focus
        self.generator = generator
    }

    mutating func next() -> LocationsRequest {
        let center = center()
        return LocationsRequest(center: center, radiusMeters: radius(around: center), limit: limit())
    }

    private mutating func center() -> Coordinate {
        let place = places.randomElement(using: &generator) ?? focus
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            let longitude = Double.random(in: -180...180, using: &generator)
            return Coordinate(wrapping: [90, -90].pick(using: &generator), longitude)
        case 1:
            let meridian = [180, -180, 0, -0.0, 90, -90].pick(using: &generator)
            return Coordinate(wrapping: .random(in: -90...90, using: &generator), meridian)
        case 2: return place
        case 3: return place.antipode
        case 4: return place.moved(upTo: [1e-10, 1e-5, 1e-2].pick(using: &generator), using: &generator)
        case 5, 6: return focus
        default: return .anywhere(using: &generator)
        }
    }

    private mutating func limit() -> Int {
        let edges = [1, 2, 8, 9, 20, 21, 50, 51, 99, 100]
        return Bool.random(using: &generator)
            ? edges[Int.random(in: edges.indices, using: &generator)]
            : .random(in: LocationsRequest.limits, using: &generator)
    }

    /// None; any, from a metre to half the Earth; or one at which a place just is inside, or just isn't.
    private mutating func radius(around center: Coordinate) -> Double? {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1: return nil
        case 2, 3: return pow(LocationsRequest.greatestRadiusMeters, .random(in: 0...1, using: &generator))
        default:
            let place = places.randomElement(using: &generator) ?? focus
            let distance = Geodesic.distanceMeters(from: center, to: place)
            guard distance > 0 else { return .leastNonzeroMagnitude }
            return [distance, distance.nextDown].pick(using: &generator)
        }
    }
}
