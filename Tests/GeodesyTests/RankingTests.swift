import PointsOfInterestAPI
import Randomness
import Testing

@testable import Geodesy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("The exact order")
struct RankingTests {
    @Test("Distances are those of the ellipsoid, in metres")
    func geodesicDistances() throws {
        // Quarter meridian and half equator of WGS 84; the shortest way between equatorial antipodes goes
        // over a pole.
        let quarter = Geodesic.distanceMeters(from: try .init(0, 0), to: try .init(90, 0))
        #expect(abs(quarter - 10_001_965.729) < 0.001)
        let degree = Geodesic.distanceMeters(from: try .init(0, 0), to: try .init(0, 1))
        #expect(abs(degree - 111_319.491) < 0.001)
        let antipodes = Geodesic.distanceMeters(from: try .init(0, 0), to: try .init(0, 180))
        #expect(abs(antipodes - 2 * 10_001_965.729) < 0.001)
        let overTheDateLine = Geodesic.distanceMeters(from: try .init(0, 179.5), to: try .init(0, -179.5))
        #expect(overTheDateLine == degree)
    }

    @Test("Places come nearest first, and places at one distance by their ids")
    func orderByDistanceThenID() throws {
        let ranking = Ranking(center: try .init(0, 0), radiusMeters: nil, limit: 10)
        let placed = ranking.rank([
            Candidate(id: 9, latitude: 0, longitude: 1), Candidate(id: 3, latitude: 0, longitude: -1),
            Candidate(id: 5, latitude: 0, longitude: 1), Candidate(id: 7, latitude: 0, longitude: 0.5),
        ])
        #expect(placed.map(\.id) == [7, 3, 5, 9])
        #expect(placed.map(\.index) == [3, 1, 2, 0])
    }

    @Test(
        "Bounds that touch don't decide which of two places is before, and what was measured isn't measured again"
    )
    func touchingBounds() {
        var measured: [Int] = []
        func measure(_ index: Int) -> Double {
            measured.append(index)
            return 5
        }
        var near = DistanceBounds(index: 0, id: 2, (4, 5), measuring: measure)
        var far = DistanceBounds(index: 1, id: 1, (5, 6), measuring: measure)
        // Both are at 5 m, so their ids decide.
        #expect(!DistanceBounds.isBefore(&near, &far, measuring: measure))
        #expect(DistanceBounds.isBefore(&far, &near, measuring: measure))
        #expect(measured == [0, 1])
    }

    @Test("A radius includes a place exactly at it, and the limit cuts the farthest")
    func radiusAndLimit() throws {
        let center = try Coordinate(0, 0)
        let edge = Geodesic.distanceMeters(from: center, to: try .init(0, 1))
        let candidates = [
            Candidate(id: 1, latitude: 0, longitude: 1),
            Candidate(id: 2, latitude: 0, longitude: 0.5),
            Candidate(id: 3, latitude: 0, longitude: 0.1),
        ]
        func ids(_ radius: Double, limit: Int) -> [Int64] {
            Ranking(center: center, radiusMeters: radius, limit: limit).rank(candidates).map(\.id)
        }
        #expect(ids(edge, limit: 10) == [3, 2, 1])
        #expect(ids(edge.nextDown, limit: 10) == [3, 2])
        #expect(ids(edge, limit: 1) == [3])
    }

    @Test("No geodesic is shorter or longer than its chord allows, near the poles and the antipodes included")
    func chordBounds() throws {
        var generator = SeededGenerator()
        for _ in 0..<20_000 {
            let (start, end) = try pair(using: &generator)
            let chord = chordMeters(start, end)
            let geodesic = Geodesic.distanceMeters(from: start, to: end)
            let holds =
                geodesic >= Ranking.minimumGeodesicMeters(chordMeters: chord)
                && geodesic <= Ranking.maximumGeodesicMeters(chordMeters: chord)
                && chord >= Ranking.chordMeters(ofGeodesicAtMost: geodesic)
            if !holds { Issue.record("\(start) \(end) POI_TEST_SEED=\(generator.seed)") }
        }
    }

    /// Two points: anywhere, near a pole and each other, or near each other's antipodes.
    private func pair(using generator: inout SeededGenerator) throws -> (Coordinate, Coordinate) {
        let start = try Coordinate(
            .random(in: -90...90, using: &generator), .random(in: -180...180, using: &generator))
        let (east, north) = (
            Double.random(in: -1...1, using: &generator), Double.random(in: -1...1, using: &generator)
        )
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: return (start, try Coordinate(90 * north, 180 * east))
        case 1: return (try Coordinate(90, 0), try Coordinate(90 - north.magnitude, 180 * east))
        default:
            let longitude = start.longitude > 0 ? start.longitude - 180 : start.longitude + 180
            return (start, try Coordinate(max(-90, min(90, -start.latitude + north)), longitude))
        }
    }

    @Test(
        "Positions in space bound the geodesic to micrometres nearby, and to centimetres a thousand kilometres away"
    )
    func sectionBounds() throws {
        var generator = SeededGenerator()
        for _ in 0..<40_000 {
            let (start, end) = try nearPair(using: &generator)
            let geodesic = Geodesic.distanceMeters(from: start, to: end)
            let chord = chordMeters(start, end)
            let bounds = Ranking.geodesicBounds(from: Ellipsoid.point(start), to: Ellipsoid.point(end))
            guard chord < Ranking.maximumSectionChordMeters, let bounds else { continue }
            let isNarrow =
                bounds.maximum - bounds.minimum <= 2.1e-6 + 4e-32 * chord * chord * chord * chord * chord
            if !(bounds.minimum...bounds.maximum).contains(geodesic) || !isNarrow {
                Issue.record("\(start) \(end) \(bounds) \(geodesic) POI_TEST_SEED=\(generator.seed)")
            }
        }
    }

    @Test(
        "Positions in space bound the geodesic to a millimetre between a thousand kilometres and two thirds of the way around"
    )
    func longBounds() throws {
        var generator = SeededGenerator()
        for round in 0..<60_000 {
            let start = try Coordinate(
                round % 5 == 0 ? 0 : .random(in: -90...90, using: &generator),
                .random(in: -180...180, using: &generator))
            // Anywhere, on the equator, on a meridian and over a pole.
            let end = try Coordinate(
                round % 5 == 0 ? 0 : .random(in: -90...90, using: &generator),
                round % 5 == 1 ? start.longitude : .random(in: -180...180, using: &generator))
            let (chord, geodesic) = (chordMeters(start, end), Geodesic.distanceMeters(from: start, to: end))
            let bounds = Ranking.geodesicBounds(from: Ellipsoid.point(start), to: Ellipsoid.point(end))
            #expect((bounds == nil) == (chord >= Ranking.maximumIterableChordMeters))
            guard chord >= Ranking.maximumSectionChordMeters, let bounds else { continue }
            let isNarrow = bounds.maximum - bounds.minimum < 0.0011
            if !(bounds.minimum...bounds.maximum).contains(geodesic) || !isNarrow {
                Issue.record("\(start) \(end) \(bounds) \(geodesic) POI_TEST_SEED=\(generator.seed)")
            }
        }
    }

    @Test("The bounds by positions aren't wider than needed: their margin is all but reached at the equator")
    func sectionBoundsAreSharp() throws {
        let (start, end) = (try Coordinate(-4, 10), try Coordinate(4, 10))
        let bounds = try #require(
            Ranking.geodesicBounds(from: Ellipsoid.point(start), to: Ellipsoid.point(end)))
        let geodesic = Geodesic.distanceMeters(from: start, to: end)
        let margin = (bounds.maximum - bounds.minimum) / 2
        #expect(abs((bounds.maximum + bounds.minimum) / 2 - geodesic) > 0.8 * margin)
    }

    @Test("A point is at no distance from itself")
    func sectionBoundsOfOnePoint() throws {
        for place in [try Coordinate(0, 0), try Coordinate(90, 12), try Coordinate(-33.25, 151.5)] {
            let point = Ellipsoid.point(place)
            let bounds = try #require(Ranking.geodesicBounds(from: point, to: point))
            #expect(bounds.minimum < 0 && bounds.maximum > 0 && bounds.maximum < 1e-5)
        }
    }

    /// Two points that aren't far apart: anywhere, on a meridian or a parallel, at the equator, or around a pole.
    private func nearPair(using generator: inout SeededGenerator) throws -> (Coordinate, Coordinate) {
        let latitude =
            [
                Double.random(in: -90...90, using: &generator), .random(in: -5...5, using: &generator),
                90 - .random(in: 0...5, using: &generator), 0, -90,
            ]
            .randomElement(using: &generator) ?? 0
        let reach = pow(10, Double.random(in: -9...1, using: &generator))
        let turns = [Double.random(in: 0...7, using: &generator), 0, Double.pi / 2]
        let turn = turns.randomElement(using: &generator) ?? 0
        let parallel = max(1e-3, cos(latitude * Double.pi / 180))
        let (north, east) = (reach * cos(turn), reach * sin(turn) / parallel)
        let start = try Coordinate(latitude, .random(in: -90...90, using: &generator))
        return (
            start,
            try Coordinate(
                max(-90, min(90, latitude + north)), start.longitude + max(-90, min(90, east)))
        )
    }

    @Test("Bounds change neither the order nor a shown distance, however crowded the places")
    func boundsOnlySaveTime() throws {
        var generator = SeededGenerator()
        let seed = "POI_TEST_SEED=\(generator.seed)"
        for spread in [0, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1, 10] {
            for _ in 0..<20 {
                let center = try pair(using: &generator).0
                let candidates = try (0..<50).map { _ in
                    let place = try Coordinate(
                        max(-90, min(90, center.latitude + spread * .random(in: -1...1, using: &generator))),
                        max(
                            -180, min(180, center.longitude + spread * .random(in: -1...1, using: &generator))
                        ))
                    return Candidate(
                        id: .random(in: 0..<1000, using: &generator), latitude: place.latitude,
                        longitude: place.longitude)
                }
                let edge = Geodesic.distanceMeters(from: center, to: candidates[0])
                for radius in [nil, edge, edge.nextDown, edge.nextUp] {
                    let ranking = Ranking(center: center, radiusMeters: radius, limit: 40)
                    let (fast, plain) = (ranking.rankByBounds(candidates), ranking.rank(candidates))
                    #expect(fast.map(\.id) == plain.map(\.id), "\(seed)")
                    #expect(fast.map(shownDistance) == plain.map(shownDistance), "\(seed)")
                    #expect(
                        zip(fast, plain).allSatisfy { $0.distanceMeters >= $1.distanceMeters }, "\(seed)"
                    )
                }
            }
        }
    }

    private func shownDistance(_ placed: Ranking.Placed) -> Double {
        (placed.distanceMeters * 10).rounded() / 10
    }

    // MARK: Proof

    fileprivate struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var radius: Double?
        /// Geodesic distances of the candidates.
        let distances: [Double]
        /// The chord of the last candidate, where it isn't taken to be as long as its distance.
        var lastChord: Double?
        let isComplete: Bool
    }

    @Test(
        "A page of two places is proven complete only if the fetch reached far enough",
        arguments: [
            Case(testDescription: "there is nothing", distances: [], isComplete: true),
            Case(testDescription: "that is all there is", distances: [10, 20, 30], isComplete: true),
            Case(
                testDescription: "the last place is well within reach", distances: [10, 20, 30, 40],
                isComplete: true),
            Case(
                testDescription: "the last place is as far as the reach", distances: [10, 40, 40, 40],
                isComplete: false),
            Case(
                testDescription: "all stand on the centre", distances: [0, 0, 0, 0], isComplete: false),
            Case(
                testDescription: "the radius is within reach", radius: 15, distances: [10, 20, 30, 40],
                isComplete: true),
            Case(
                testDescription: "the radius is beyond reach, the last place isn't", radius: 99,
                distances: [10, 20, 30, 40], isComplete: true),
            Case(
                testDescription: "the radius is beyond reach, and the page not full", radius: 44.5,
                distances: [10, 45, 45, 45], lastChord: 44, isComplete: false),
        ])
    fileprivate func proof(of example: Case) throws {
        let ranking = Ranking(center: try .init(0, 0), radiusMeters: example.radius, limit: 2)
        let meters = example.distances.filter { $0 <= example.radius ?? .infinity }.prefix(2)
        let fetch = Ranking.Fetch(
            candidateLimit: 4, candidateCount: example.distances.count,
            lastChordMeters: example.lastChord ?? example.distances.last)
        #expect(
            ranking.isComplete(count: meters.count, farthestMeters: meters.last, after: fetch)
                == example.isComplete)
    }

    /// The straight line between two points of WGS 84, by their geocentric coordinates (EPSG method 9602).
    private func chordMeters(_ start: Coordinate, _ end: Coordinate) -> Double {
        func geocentric(_ place: Coordinate) -> (x: Double, y: Double, z: Double) {
            let flattening = 1 / 298.257_223_563
            let excess = flattening * (2 - flattening)
            let (phi, lambda) = (place.latitude * .pi / 180, place.longitude * .pi / 180)
            let n = 6_378_137 / (1 - excess * sin(phi) * sin(phi)).squareRoot()
            return (n * cos(phi) * cos(lambda), n * cos(phi) * sin(lambda), n * (1 - excess) * sin(phi))
        }
        let (a, b) = (geocentric(start), geocentric(end))
        let (x, y, z) = (a.x - b.x, a.y - b.y, a.z - b.z)
        return (x * x + y * y + z * z).squareRoot()
    }
}

extension Coordinate {
    fileprivate init(_ latitude: Double, _ longitude: Double) throws {
        try self.init(latitude: latitude, longitude: longitude)
    }
}

extension Ranking {
    /// Ranks as the index in memory does: by bounds of each distance, which their positions give.
    func rankByBounds(_ candidates: [Candidate]) -> [Placed] {
        let origin = Ellipsoid.point(center)
        func measure(_ index: Int) -> Double { Geodesic.distanceMeters(from: center, to: candidates[index]) }
        var bounds = candidates.indices.map { index in
            let candidate = candidates[index]
            let point = Ellipsoid.point(latitude: candidate.latitude, longitude: candidate.longitude)
            return DistanceBounds(
                index: index, id: candidate.id, Self.geodesicBounds(from: origin, to: point),
                measuring: measure)
        }
        let count = bounds.withUnsafeMutableBufferPointer { rank($0, measuring: measure) }
        return bounds.prefix(count).map {
            Placed(index: $0.index, id: $0.id, distanceMeters: $0.maximum)
        }
    }
}
