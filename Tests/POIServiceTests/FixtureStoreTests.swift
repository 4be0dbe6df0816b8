import BruteForce
import PointsOfInterestAPI
import Randomness
import Testing

@testable import POIService

@Suite("The store in memory")
struct FixtureStoreTests {
    @Test("The store returns the same places as sorting all of them by distance and id")
    func sameAsSorting() async throws {
        var generator = SeededGenerator()
        for _ in 0..<100 {
            let places = try (1...40).shuffled(using: &generator).map { id in
                // Few coordinates, so that many places are equally far.
                let degrees = (0..<2).map { _ in Double(Int.random(in: -2...2, using: &generator)) }
                return try place(id, degrees[0], degrees[1])
            }
            let center = try Coordinate(latitude: 0, longitude: .random(in: -2...2, using: &generator))
            let radii: [Double?] = [nil, 1, 150_000, 300_000]
            let radius = radii[Int.random(in: radii.indices, using: &generator)]
            let limit = Int.random(in: 1...50, using: &generator)

            let answer = try await FixtureStore(places).places(
                for: NearbyPlacesRequest(center: center, radiusMeters: radius, limit: limit)
            ).places.copied()
            let expected = try sorted(places, around: center, within: radius).prefix(limit)
            #expect(answer.map(\.id) == expected.map(\.id), "POI_TEST_SEED=\(generator.seed)")
            #expect(answer.map(\.distance) == expected.map(\.distance), "POI_TEST_SEED=\(generator.seed)")
        }
    }

    private func sorted(
        _ places: [PointOfInterest], around center: Coordinate, within radius: Double?
    ) throws -> [(id: Int, distance: Double?)] {
        var all: [(id: Int, meters: Double)] = []
        for place in places {
            let position = try Coordinate(latitude: place.latitude, longitude: place.longitude)
            let meters = Geodesic.distanceMeters(from: center, to: position)
            if meters <= radius ?? .infinity { all.append((place.id, meters)) }
        }
        all.sort { $0.meters == $1.meters ? $0.id < $1.id : $0.meters < $1.meters }
        return all.map { ($0.id, ($0.meters * 10).rounded() / 10) }
    }

    @Test("The store orders places by unrounded distances")
    func unroundedOrder() async throws {
        let store = FixtureStore([try place(1, 0, 0.0000003), try place(2, 0, 0.0000002)])
        let answer = try await store.places(for: try request()).places.copied()
        #expect(answer.map(\.id) == [2, 1])
        #expect(answer.map(\.distance) == [0, 0])
    }

    @Test("The store returns 20 places, with all of their fields, if no limit is given")
    func defaults() async throws {
        let whole = PointOfInterest(
            id: 7, name: "Zoë’s", category: "cafe", latitude: 0, longitude: 0, featured: true,
            address: "1 Way", website: "https://example.org/",
            source: .init(dataset: "set", id: "1", license: "CC0-1.0"))
        let store = FixtureStore(try [whole] + (100..<130).map { try place($0, 1, 1) })
        let answer = try await store.places(for: try request()).places.copied()
        #expect(answer.count == 20)
        #expect(answer.first?.distance == 0)
        #expect(answer.first?.source == whole.source)
        #expect(answer.first?.address == whole.address)
        #expect(answer.first?.website == whole.website)
        #expect(answer.first?.featured == true)
        #expect(answer.dropFirst().map(\.id) == Array(100..<119))
        #expect(await store.checkHealth() == .reachable(missingMigrations: []))
    }

    private func request() throws -> NearbyPlacesRequest {
        NearbyPlacesRequest(center: try Coordinate(latitude: 0, longitude: 0))
    }

    private func place(_ id: Int, _ latitude: Double, _ longitude: Double) throws -> PointOfInterest {
        PointOfInterest(id: id, name: "\(id)", category: "park", latitude: latitude, longitude: longitude)
    }
}
