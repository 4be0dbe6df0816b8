import PointsOfInterestAPI
import Randomness

@testable import POIService

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Questions about places that ask for trouble, for searches through cells.
struct CellQuestions {
    let world: CellWorld
    private let focus: Coordinate
    private var generator: SeededGenerator

    struct Question: CustomStringConvertible {
        let ranking: Ranking
        let box: BoundingBox?
        let candidateLimit: Int
        /// Whether the nearest by the chord are known beforehand.
        let isPrimed: Bool

        var description: String {
            "\(ranking) box \(String(describing: box)) limit \(candidateLimit) primed \(isPrimed)"
        }
    }

    /// - Parameter shape: chooses how the places are spread.
    init(shape: Int, using generator: inout SeededGenerator) throws {
        let focus = try Coordinate.random(using: &generator)
        var places: [Candidate] = []
        for id in (1...120).shuffled(using: &generator) {
            let place = try Self.place(shape: shape % 8, around: focus, using: &generator)
            places.append(Candidate(id: Int64(id), latitude: place.latitude, longitude: place.longitude))
        }
        world = CellWorld(places)
        self.focus = focus
        self.generator = SeededGenerator(seed: generator.next())
    }

    private static func place(
        shape: Int, around focus: Coordinate, using generator: inout SeededGenerator
    ) throws -> Coordinate {
        func near(_ degrees: Double, _ generator: inout SeededGenerator) throws -> Coordinate {
            try Coordinate(
                wrapped: focus.latitude + degrees * .random(in: -1...1, using: &generator),
                focus.longitude + degrees * .random(in: -1...1, using: &generator))
        }
        switch shape {
        case 0: return try .random(using: &generator)
        case 1: return focus
        case 2: return try near(1e-9, &generator)
        case 3: return try near(0.5, &generator)
        case 4:  // a few points, each with many places, some the other way of writing the same meridian
            let step = Double(Int.random(in: -2...2, using: &generator))
            let longitude = focus.longitude + 90 * step
            return try Coordinate(
                wrapped: focus.latitude, Bool.random(using: &generator) ? longitude : longitude + 360)
        case 5: return try near(pow(10, Double.random(in: -8...2, using: &generator)), &generator)
        case 6:  // around a pole, at any longitude
            let latitude = 90 - pow(10, Double.random(in: -13...0, using: &generator))
            return try Coordinate(
                wrapped: focus.latitude < 0 ? -latitude : latitude, .random(in: -180...180, using: &generator)
            )
        default:
            return try Bool.random(using: &generator) ? near(0.01, &generator) : .random(using: &generator)
        }
    }

    mutating func center() throws -> Coordinate {
        let candidate = world.places.randomElement(using: &generator)
        let place =
            try candidate.map { try Coordinate(latitude: $0.latitude, longitude: $0.longitude) } ?? focus
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return try .random(using: &generator)
        case 1: return place
        case 2: return try place.antipode
        case 3: return try focus.antipode
        case 4: return try Coordinate(wrapped: place.latitude + 1e-6, place.longitude - 1e-6)
        default: return focus
        }
    }

    mutating func next() throws -> Question {
        let center = try center()
        let box = Bool.random(using: &generator) ? try box() : nil
        let all = world.scan(from: center, box: box)
        let ranking = Ranking(
            center: center, radiusMeters: box == nil ? radius(all.map(\.meters)) : nil,
            limit: .random(in: 1...12, using: &generator), after: after(all))
        return Question(
            ranking: ranking, box: box,
            candidateLimit: [4, 16, 64].randomElement(using: &generator) ?? 4,
            isPrimed: box == nil && Bool.random(using: &generator))
    }

    /// A page that begins behind one of the places, or between two.
    private mutating func after(_ all: [(meters: Double, candidate: Candidate)]) -> PagePosition? {
        guard Bool.random(using: &generator), let index = all.indices.randomElement(using: &generator) else {
            return nil
        }
        let id = all[index].candidate.id + Int64.random(in: -1...1, using: &generator)
        return PagePosition(distanceMeters: all[index].meters, id: id, count: index + 1)
    }

    /// None, any, or one at which a place just is inside or just isn't.
    private mutating func radius(_ meters: [Double]) -> Double? {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return pow(LocationsRequest.greatestRadiusMeters, Double.random(in: 0...1, using: &generator))
        case 1:
            let edge = meters.randomElement(using: &generator) ?? 1
            return Bool.random(using: &generator) ? edge : edge.nextDown
        default: return nil
        }
    }

    /// A box whose edges are anywhere, at a place, or at a seam: thin, polar and whole ones among them.
    private mutating func box() throws -> BoundingBox? {
        func edge() throws -> Coordinate {
            guard Bool.random(using: &generator), let place = world.places.randomElement(using: &generator)
            else {
                return try .random(using: &generator)
            }
            return try Coordinate(latitude: place.latitude, longitude: place.longitude)
        }
        let (first, second) = (try edge(), try edge())
        let (south, north) = (min(first.latitude, second.latitude), max(first.latitude, second.latitude))
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return BoundingBox(west: -180, south: south, east: 180, north: north)
        case 1: return BoundingBox(west: first.longitude, south: -90, east: first.longitude, north: 90)
        case 2: return BoundingBox(west: first.longitude, south: south, east: second.longitude, north: south)
        default: return BoundingBox(west: first.longitude, south: south, east: second.longitude, north: north)
        }
    }
}
