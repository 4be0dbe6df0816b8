import BruteForce
import Places
import PointsOfInterestAPI
import PrivateCluster
import Randomness
import Testing

@testable import POIDatabase

/// Clusters of the real database's places.
@Suite("Clusters", .timeLimit(.minutes(5)))
struct ServedClustersTests {
    @Test(
        "Clusters from memory are those of adding up every place, at once and by a helper thread"
    )
    func exact() async throws {
        try await MigratedDatabase.seeded().withFollower { followed in
            try await followed.waitForNewest()
            var generator = SeededGenerator()
            let store = followed.store
            let everywhere = NearbyPlacesRequest(
                center: try Coordinate(latitude: 0, longitude: 0), limit: 300)
            let truth = FixtureStore(
                try await followed.database.places(for: everywhere).places.copied().map {
                    $0.at(distance: nil)
                })
            for _ in 0..<200 {
                guard let request = Self.request(using: &generator) else { continue }
                let expected = try await truth.clusters(for: request)
                let places = try expected.places.copied()
                let note = "POI_TEST_SEED=\(generator.seed) \(request)"
                let atOnce = try #require(try store.clusters(for: request, from: .unknown).atOnce, "\(note)")
                #expect(atOnce.sums == expected.sums, "\(note)")
                #expect(try atOnce.places.copied() == places, "\(note)")
                let later = try await store.countedClusters(for: request, from: .unknown)
                #expect(later.sums == expected.sums && later.datasetID == atOnce.datasetID, "\(note)")
                #expect(try later.places.copied() == places, "\(note)")
            }
        }
    }

    @Test("Clusters need the places in memory")
    func withoutIndex() async throws {
        try await MigratedDatabase.empty().withStore { store, session in
            let indexed = IndexedPlaceStore(
                ServedIndex(), fallback: store, isRequired: false, requestTimeout: .seconds(60),
                loop: session.loop)
            let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
            let request = ClustersRequest(box: earth, zoom: 0)
            #expect(try indexed.clusters(for: request, from: .unknown).atOnce == nil)
            for store in [store, indexed] as [any PlaceStore] {
                await #expect(throws: PlaceStoreError.indexRequired) {
                    _ = try await store.clusters(for: request)
                }
            }
            await indexed.close()
        }
    }

    /// Any box, with filters.
    private static func request(using generator: inout SeededGenerator) -> ClustersRequest? {
        let latitudes = [0, 1].map { _ in Double.random(in: -90...90, using: &generator) }.sorted()
        let box = BoundingBox(
            west: .random(in: -180...180, using: &generator), south: latitudes[0],
            east: .random(in: -180...180, using: &generator), north: latitudes[1])
        guard let box else { return nil }
        return ClustersRequest(
            box: box, zoom: .random(in: 0...3, using: &generator),
            categories: [[], [], ["park"], ["museum", "zoo"]].randomElement(using: &generator) ?? [],
            searchText: [nil, nil, "san", "s m"].randomElement(using: &generator) ?? nil,
            featured: [nil, nil, true, false].randomElement(using: &generator) ?? nil)
    }
}
