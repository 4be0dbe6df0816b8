import Foundation
import PointsOfInterestAPI
import Randomness

extension Coordinate {
    /// Brings two numbers into range: longitude goes round the Earth, latitude ends at the poles.
    package init(wrapping latitude: Double, _ longitude: Double) {
        let turns = longitude > 180 ? -360.0 : longitude < -180 ? 360 : -0.0
        do {
            try self.init(
                latitude: min(90, max(-90, latitude)), longitude: min(180, max(-180, longitude + turns)))
        } catch {
            preconditionFailure("\(latitude), \(longitude) can't be brought into range")
        }
    }

    /// A centre of a request about places: often one of them or its antipode, at a pole, or on a special meridian.
    package static func difficultCenter(
        near place: Coordinate, or focus: Coordinate, using generator: inout SeededGenerator
    ) -> Coordinate {
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

    /// Any point of the sphere, each as likely.
    package static func anywhere(using generator: inout SeededGenerator) -> Coordinate {
        Coordinate(
            wrapping: asin(.random(in: -1...1, using: &generator)) * 180 / .pi,
            .random(in: -180...180, using: &generator))
    }

    /// The point on the other side of the Earth.
    package var antipode: Coordinate {
        Coordinate(wrapping: -latitude, longitude > 0 ? longitude - 180 : longitude + 180)
    }

    /// The point that many degrees away.
    package func moved(north: Double, east: Double) -> Coordinate {
        Coordinate(wrapping: latitude + north, longitude + east)
    }

    /// A point at most that many degrees away in each direction.
    package func moved(upTo degrees: Double, using generator: inout SeededGenerator) -> Coordinate {
        moved(
            north: .random(in: -degrees...degrees, using: &generator),
            east: .random(in: -degrees...degrees, using: &generator))
    }

    /// The point at that many degrees of arc on a sphere.
    package func destination(azimuth: Double, degrees: Double) -> Coordinate {
        let (phi, alpha, sigma) = (latitude * .pi / 180, azimuth * .pi / 180, degrees * .pi / 180)
        let sine = sin(phi) * cos(sigma) + cos(phi) * sin(sigma) * cos(alpha)
        let east = atan2(sin(alpha) * sin(sigma) * cos(phi), cos(sigma) - sin(phi) * sine)
        return Coordinate(wrapping: asin(min(1, max(-1, sine))) * 180 / .pi, longitude + east * 180 / .pi)
    }
}

extension Array {
    /// One of the elements; there has to be one.
    package func pick(using generator: inout SeededGenerator) -> Element {
        self[Int.random(in: indices, using: &generator)]
    }
}
