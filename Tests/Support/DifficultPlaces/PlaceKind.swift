import Foundation
import PointsOfInterestAPI
import Randomness

/// Kinds of places on which an order can go wrong.
package enum PlaceKind: String, CaseIterable, Sendable {
    /// Anywhere on the sphere.
    case uniform
    /// A few towns, from centimetres to hundreds of kilometres wide.
    case towns
    /// Most places on one point, the others within a metre of it.
    case onePoint
    /// All places in one region, with the centres anywhere.
    case oneRegion
    /// At nearly one distance from one point, so that chord and geodesic disagree about their order.
    case ring
    /// On a lattice, where many places are exactly as far as others.
    case lattice
    /// On and beside the meridians 0, ±90 and ±180, written in every way.
    case meridians
    /// On and beside the poles, where every longitude names the same place.
    case poles
    /// Around the antipode of one point, where geodesics in all directions are nearly as short.
    case antipodes
    /// Some of everything.
    case mixture
    /// Fewer places than are asked for.
    case few
    /// No place at all.
    case none

    /// Whether so many places are equally far that a few candidates can't prove every page.
    package var isDense: Bool { [.ring, .lattice, .poles, .antipodes].contains(self) }

    /// Whether not even many candidates can.
    package var isCrowded: Bool { [.onePoint, .antipodes].contains(self) }

    /// The positions of places of this kind, many of them around `focus`.
    package func coordinates(
        count: Int, around focus: Coordinate, using generator: inout SeededGenerator
    ) -> [Coordinate] {
        switch self {
        case .none: return []
        case .few:
            return (0..<3).map { _ in PlaceKind.uniform.coordinate(around: focus, using: &generator) }
        case .mixture:
            let kinds = PlaceKind.allCases.filter { ![.none, .few, .mixture].contains($0) }
            return (0..<count).map { kinds[$0 % kinds.count].coordinate(around: focus, using: &generator) }
        default:
            return (0..<count).map { _ in coordinate(around: focus, using: &generator) }
        }
    }

    /// The position of one place of this kind.
    package func coordinate(around focus: Coordinate, using generator: inout SeededGenerator) -> Coordinate {
        switch self {
        case .towns:
            let town = Int.random(in: 0..<6, using: &generator)
            return focus.moved(north: 3 * Double(town), east: 20 * Double(town))
                .moved(upTo: [1e-7, 1e-4, 1e-2, 0.1, 1, 5][town], using: &generator)
        case .onePoint:
            let isBeside = Int.random(in: 0..<4, using: &generator) == 0
            return isBeside ? focus.moved(upTo: 1e-5, using: &generator) : focus
        case .oneRegion:
            return Coordinate(wrapping: 37, -121).moved(upTo: 1, using: &generator)
        case .ring:
            return focus.destination(
                azimuth: .random(in: 0..<360, using: &generator),
                degrees: 30 + .random(in: -1e-3...1e-3, using: &generator))
        case .lattice:
            return Coordinate(
                wrapping: Double(Int.random(in: -3...3, using: &generator)),
                Double(Int.random(in: -4...4, using: &generator)) / 2)
        case .meridians:
            let latitude = [0, -0.0, .random(in: -90...90, using: &generator)].pick(using: &generator)
            let meridian = [0, -0.0, 90, -90, 180, -180].pick(using: &generator)
            return Coordinate(wrapping: latitude, meridian + Self.nudge(using: &generator))
        case .poles:
            return Coordinate(
                wrapping: [90, -90].pick(using: &generator) + Self.nudge(using: &generator),
                .random(in: -180...180, using: &generator))
        case .antipodes:
            return focus.antipode.moved(upTo: [0, 1e-6, 0.1, 1].pick(using: &generator), using: &generator)
        case .uniform, .mixture, .few, .none:
            return .anywhere(using: &generator)
        }
    }

    /// Mostly nothing, else a step so small that something rounds. Adding −0 keeps a −0.
    private static func nudge(using generator: inout SeededGenerator) -> Double {
        [-0.0, -0.0, -0.0, -0.0, 1e-13, -1e-13, 6e-10, -6e-10].pick(using: &generator)
    }
}

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
