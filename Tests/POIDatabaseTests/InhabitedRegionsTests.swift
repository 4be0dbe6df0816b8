import DifficultPlaces
import EventLoop
import Foundation
import POIService
import PointsOfInterestAPI
import Randomness
import Testing

@testable import POIDatabase

@Suite("What is known about where places are", .timeLimit(.minutes(5)))
struct InhabitedRegionsTests {
    private static let counts = PlaceStatements.nearest.map(\.candidateLimit)

    @Test("Wherever so many places are said to be near, they are, by the geodesic")
    func soundness() throws {
        var generator = SeededGenerator()
        var knownCount = 0
        for number in 0..<120 {
            let center = Self.center(number, using: &generator)
            let spread = [0.001, 1, 10, 25].pick(using: &generator)
            let places = (0..<24).map { _ in center.moved(upTo: spread, using: &generator) }
            let farthest = places.map { Geodesic.distanceMeters(from: center, to: $0) }.max() ?? 0
            let regions = InhabitedRegions()
            regions.learn(24, within: farthest, of: center)
            for _ in 0..<400 {
                // Mostly where what is known ends.
                let reach = (InhabitedRegions.maximumDistanceMeters - farthest) / 111_195
                let degrees = reach * .random(in: 0...1.1, using: &generator).squareRoot()
                let point = Self.cornered(
                    center.destination(
                        azimuth: .random(in: 0..<360, using: &generator), degrees: max(0, degrees)),
                    using: &generator)
                guard regions.hasPlaces(24, near: point) else { continue }
                knownCount += 1
                let near = places.filter {
                    Geodesic.distanceMeters(from: point, to: $0) <= InhabitedRegions.maximumDistanceMeters
                }
                guard near.count == 24 else {
                    Issue.record("\(point) around \(center); POI_TEST_SEED=\(generator.seed)")
                    return
                }
            }
        }
        #expect(knownCount > 10_000, "POI_TEST_SEED=\(generator.seed)")
    }

    @Test("All that is well within 5,000 km of places is known, across the antimeridian and over the poles")
    func completeness() throws {
        var generator = SeededGenerator()
        for number in 0..<60 {
            let center = Self.center(number, using: &generator)
            let regions = InhabitedRegions()
            regions.learn(24, within: 100_000, of: center)
            for _ in 0..<400 {
                let point = Coordinate.anywhere(using: &generator)
                let meters = Geodesic.distanceMeters(from: center, to: point)
                // A cell is 157 km across, and bounded with some room.
                guard meters < 4_600_000 || meters > 4_900_000 else { continue }
                let isKnown = regions.hasPlaces(24, near: point)
                guard isKnown == (meters < 4_600_000) else {
                    Issue.record("\(point) around \(center); POI_TEST_SEED=\(generator.seed)")
                    return
                }
            }
        }
    }

    @Test("What is learned about few places says nothing about more")
    func classes() throws {
        let regions = InhabitedRegions()
        let (here, there) = (Coordinate(wrapping: 50, 10), Coordinate(wrapping: 60, 10))
        #expect(Self.counts.allSatisfy { !regions.hasPlaces($0, near: here) })
        regions.learn(12, within: 1000, of: here)
        #expect(Self.counts.map { regions.hasPlaces($0, near: there) } == [true, false, false, false])
        regions.learn(54, within: 1000, of: here)
        regions.learn(24, within: 1000, of: here)
        #expect(Self.counts.map { regions.hasPlaces($0, near: there) } == [true, true, true, false])
        // The hundredth is farther: known here, not as far away.
        regions.learn(104, within: 4_500_000, of: here)
        #expect(Self.counts.map { regions.hasPlaces($0, near: here) } == [true, true, true, true])
        #expect(Self.counts.map { regions.hasPlaces($0, near: there) } == [true, true, true, false])
    }

    @Test("Places too far away teach nothing")
    func farPlaces() throws {
        let regions = InhabitedRegions()
        let here = Coordinate(wrapping: 0, 0)
        for meters in [4_999_999.5, 5_000_000, 5_000_001, 2e7, .infinity] {
            regions.learn(12, within: meters, of: here)
            #expect(!regions.hasPlaces(12, near: here))
        }
    }

    @Test("What turns out wrong is forgotten in its cell alone, and for no fewer places")
    func forgetting() throws {
        let regions = InhabitedRegions()
        let (here, beside) = (Coordinate(wrapping: 50.5, 10.5), Coordinate(wrapping: 50.5, 11.5))
        regions.learn(104, within: 1000, of: here)
        regions.forget(54, near: here)
        #expect(Self.counts.map { regions.hasPlaces($0, near: here) } == [true, true, false, false])
        #expect(Self.counts.allSatisfy { regions.hasPlaces($0, near: beside) })
        regions.forget(104, near: here)
        #expect(regions.hasPlaces(24, near: here))
        regions.learn(104, within: 1000, of: beside)
        #expect(Self.counts.allSatisfy { regions.hasPlaces($0, near: here) })
    }

    @Test("Threads that learn at once lose nothing of what the others have learned")
    func threads() async throws {
        let regions = InhabitedRegions()
        let centers = (0..<64).map {
            Coordinate(wrapping: Double($0 % 8) * 20 - 70, Double($0 / 8) * 45 - 170)
        }
        await withTaskGroup { group in
            for (number, center) in centers.enumerated() {
                group.addTask {
                    regions.learn(Self.counts[number % 4], within: 4_800_000, of: center)
                    _ = regions.hasPlaces(12, near: center)
                }
            }
        }
        let alone = InhabitedRegions()
        for (number, center) in centers.enumerated() {
            alone.learn(Self.counts[number % 4], within: 4_800_000, of: center)
        }
        for latitude in stride(from: -90, through: 90, by: 3) {
            let isSame = stride(from: -180, through: 180, by: 3).allSatisfy { longitude in
                let point = Coordinate(wrapping: Double(latitude), Double(longitude))
                return Self.counts.allSatisfy {
                    regions.hasPlaces($0, near: point) == alone.hasPlaces($0, near: point)
                }
            }
            #expect(isSame, "latitude \(latitude)")
        }
    }

    /// The poles and the antimeridian as often as any other point.
    private static func center(_ number: Int, using generator: inout SeededGenerator) -> Coordinate {
        let anywhere = Coordinate.anywhere(using: &generator)
        switch number % 4 {
        case 0: return Coordinate(wrapping: [90, -90].pick(using: &generator), anywhere.longitude)
        case 1: return Coordinate(wrapping: anywhere.latitude, [180, -180, 179.9].pick(using: &generator))
        default: return anywhere
        }
    }

    /// A point's nearest corner of cells, within a hair of it, as often as the point itself.
    private static func cornered(
        _ point: Coordinate, using generator: inout SeededGenerator
    ) -> Coordinate {
        guard Bool.random(using: &generator) else { return point }
        return Coordinate(wrapping: point.latitude.rounded(), point.longitude.rounded())
            .moved(upTo: 1e-9, using: &generator)
    }
}

@Suite("Crowds that a walk has met")
struct CrowdedSpotsTests {
    private let here = Coordinate(wrapping: 50.001, 10.001)

    @Test("Are known nearby, for as many places and more")
    func neighbourhood() throws {
        let crowds = CrowdedSpots()
        #expect(!crowds.contains(here, limit: 20))
        crowds.insert(here, limit: 20, crowdDistanceMeters: 0)
        crowds.insert(here, limit: 50, crowdDistanceMeters: 0)
        #expect([8, 20, 50, 100].map { crowds.contains(here, limit: $0) } == [false, true, true, true])
        #expect(crowds.contains(here.moved(north: 0.0005, east: 0.0005), limit: 20))
        #expect(!crowds.contains(here.moved(north: 0.005, east: 0), limit: 20))
    }

    @Test("Are known the farther around, the farther away they are")
    func distance() throws {
        for (meters, degrees) in [(3000.0, 0.014), (20_000, 0.12)] {
            let crowds = CrowdedSpots()
            crowds.insert(here, limit: 20, crowdDistanceMeters: meters)
            #expect(crowds.contains(here.moved(north: degrees, east: degrees), limit: 20))
            #expect(!crowds.contains(here.moved(north: 2 * degrees, east: 0), limit: 20))
        }
    }

    @Test("Are forgotten where there are too many of them, and after many requests near them")
    func forgetting() throws {
        let crowds = CrowdedSpots()
        crowds.insert(here, limit: 20, crowdDistanceMeters: 0)
        for number in 0..<CrowdedSpots.maximumCount - 1 {
            crowds.insert(
                Coordinate(wrapping: 0, Double(number) / 10), limit: 20, crowdDistanceMeters: 0)
        }
        #expect(crowds.contains(here, limit: 20))
        let last = Coordinate(wrapping: -50, 0)
        crowds.insert(last, limit: 20, crowdDistanceMeters: 0)
        #expect(!crowds.contains(here, limit: 20))
        let hits = (0..<CrowdedSpots.maximumHitCount).count { _ in crowds.contains(last, limit: 20) }
        #expect(hits == CrowdedSpots.maximumHitCount)
        #expect(!crowds.contains(last, limit: 20))
    }
}
