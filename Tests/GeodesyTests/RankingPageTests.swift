import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import Testing

@testable import Geodesy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("Pages of the exact order")
struct RankingPageTests {
    @Test("Pages walked to the end hold every place once, in order, by bounds and by measuring")
    func walk() throws {
        var generator = SeededGenerator()
        for spread in [0, 1e-9, 1e-6, 1e-3, 1, 90] {
            for size in [1, 3, 7] {
                let comment = "spread \(spread) size \(size) POI_TEST_SEED=\(generator.seed)"
                let center = try Coordinate.random(using: &generator)
                let candidates = try crowd(around: center, spread, using: &generator)
                let all = candidates.scan(from: center)
                for rank in [Ranking.rankByBounds, Ranking.rank(_:)] {
                    #expect(pages(of: candidates, from: center, size, by: rank) == all, "\(comment)")
                }
            }
        }
    }

    private func crowd(
        around center: Coordinate, _ spread: Double, using generator: inout SeededGenerator
    ) throws -> [Candidate] {
        return try (1...40).shuffled(using: &generator).map { id in
            // Some share their point.
            let steps = (0..<2).map { _ in Double(Int.random(in: -2...2, using: &generator)) }
            let place = try Coordinate(
                wrapped: center.latitude + spread * steps[0], center.longitude + spread * steps[1])
            return Candidate(id: Int64(id), latitude: place.latitude, longitude: place.longitude)
        }
    }

    private func pages(
        of candidates: [Candidate], from center: Coordinate, _ size: Int,
        by rank: (Ranking) -> ([Candidate]) -> [Ranking.Placed]
    ) -> [Int64] {
        var ids: [Int64] = []
        var after: PagePosition?
        repeat {
            let ranking = Ranking(center: center, radiusMeters: nil, limit: size + 1, after: after)
            let page = ranking.page(of: rank(ranking)(candidates), from: candidates)
            #expect(page.placed.count <= size)
            ids += page.placed.map(\.id)
            after = page.end
            #expect(after.map(\.count) ?? ids.count == ids.count)
        } while after != nil && ids.count <= candidates.count
        return ids
    }

    @Test(
        "The next page begins behind the last place and before the one that follows, whatever chords tell of them"
    )
    func exactPosition() throws {
        let center = try Coordinate(latitude: 37, longitude: -122)
        let candidates = (1...3).map {
            Candidate(id: Int64($0), latitude: 37 + 0.5 * Double($0), longitude: -122)
        }
        let end = try #require(Self.end(of: candidates, from: center))
        let distances = candidates.map { Geodesic.distanceMeters(from: center, to: $0) }
        #expect(end.id == 1 && end.count == 1)
        #expect(end.distanceMeters > distances[0], "the chord decides, and nothing is measured")
        #expect(end.distanceMeters < distances[1])
    }

    @Test("Where chords don't tell two places apart, the page ends exactly at the nearer one")
    func measuredPosition() throws {
        let center = try Coordinate(latitude: 37, longitude: -122)
        let candidates = [37.5, 37.5 + 1e-12].enumerated().map { index, latitude in
            Candidate(id: Int64(index), latitude: latitude, longitude: -122)
        }
        let exact = Geodesic.distanceMeters(from: center, to: candidates[0])
        #expect(
            Self.end(of: candidates, from: center) == PagePosition(distanceMeters: exact, id: 0, count: 1))
    }

    @Test("A page that ends at the antipode has a cursor like any other")
    func antipode() throws {
        let center = try Coordinate(latitude: 0, longitude: 0)
        let candidates = [
            Candidate(id: 1, latitude: 0, longitude: 180), Candidate(id: 2, latitude: 0, longitude: 180),
        ]
        let end = try #require(Self.end(of: candidates, from: center))
        #expect(end.distanceMeters <= NearbyPlacesRequest.maximumRadiusMeters)
    }

    /// Where a page of one place ends.
    private static func end(of candidates: [Candidate], from center: Coordinate) -> PagePosition? {
        let ranking = Ranking(center: center, radiusMeters: nil, limit: 2)
        return ranking.page(of: ranking.rankByBounds(candidates), from: candidates).end
    }

    @Test("A page is followed by another exactly if a place is left over", arguments: [0, 1, 2, 3, 4])
    func follows(count: Int) throws {
        let center = try Coordinate(latitude: 0, longitude: 0)
        let candidates = (0..<count).map { Candidate(id: Int64($0), latitude: 0, longitude: Double($0)) }
        let ranking = Ranking(center: center, radiusMeters: nil, limit: 4)
        let page = ranking.page(of: ranking.rank(candidates), from: candidates)
        #expect(page.placed.count == min(3, count))
        #expect((page.end != nil) == (count == 4))
    }

    @Test("A request's ranking asks for one place more than its page, and begins behind its cursor")
    func requests() throws {
        let center = try Coordinate(latitude: 1, longitude: 2)
        var request = NearbyPlacesRequest(center: center, radiusMeters: 9)
        let position = PagePosition(distanceMeters: 5.5, id: 2, count: 3)
        #expect(Ranking(pageOf: request)?.limit == NearbyPlacesRequest.defaultLimit + 1)
        request.limit = 100
        request.cursor = PageCursor(position, in: request)
        #expect(
            Ranking(pageOf: request)
                == Ranking(center: center, radiusMeters: 9, limit: 101, after: position))
        request.cursor = PageCursor(rawValue: "somebody else's")
        #expect(Ranking(pageOf: request)?.after == nil)
        #expect(Ranking(pageOf: NearbyPlacesRequest(center: nil)) == nil)
        let box = try #require(BoundingBox(west: 170, south: 0, east: -170, north: 10))
        #expect(
            Ranking(pageOf: NearbyPlacesRequest(box: box))?.center
                == (try Coordinate(latitude: 5, longitude: 180)))
    }

    @Test("A count that a forged cursor makes too large stays the maximum")
    func forgedCount() throws {
        let candidates = (1...3).map { Candidate(id: Int64($0), latitude: 0, longitude: Double($0)) }
        let ranking = Ranking(
            center: try Coordinate(latitude: 0, longitude: 0), radiusMeters: nil, limit: 3,
            after: PagePosition(distanceMeters: 0, id: 0, count: .max))
        #expect(ranking.page(of: ranking.rank(candidates), from: candidates).end?.count == .max)
    }

    @Test("A fetch that ends before the page begins doesn't prove that the page is complete")
    func fetchBeforeThePage() throws {
        let after = PagePosition(distanceMeters: 1_000_000, id: 5, count: 100)
        let ranking = Ranking(
            center: try Coordinate(latitude: 0, longitude: 0), radiusMeters: nil, limit: 3, after: after)
        let near = (1...3).map { Candidate(id: Int64($0), latitude: 0, longitude: 0.1 * Double($0)) }
        let placed = ranking.rank(near)
        #expect(placed.isEmpty)
        let fetch = Ranking.Fetch(candidateLimit: 3, candidateCount: 3, lastChordMeters: 33_000)
        #expect(!ranking.isComplete(count: placed.count, farthestMeters: nil, after: fetch))
        let all = Ranking.Fetch(candidateLimit: 4, candidateCount: 3, lastChordMeters: 33_000)
        #expect(ranking.isComplete(count: placed.count, farthestMeters: nil, after: all))
    }
}

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
