import Places
import PointsOfInterestAPI
import PrivateCluster
import SpatialIndex
import Testing

@testable import POIDatabase

/// That the responses of a process never go back, whether its places come from memory or from the database.
@Suite("The database behind places in memory", .timeLimit(.minutes(5)))
struct FallbackTests {
    @Test("A database that is behind what was served from memory is unavailable, for every kind of request")
    func behind() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            "INSERT INTO locations (name, category, latitude, longitude) VALUES ('A', 'cafe', 1, 2)")
        try await database.withStore { store, session in
            let index = ServedIndex()
            let indexed = IndexedPlaceStore(
                index, fallback: store, isRequired: false, requestTimeout: .seconds(60), loop: session.loop)
            let request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1))
            #expect(try await indexed.places(for: request).places.count == 1)
            #expect(try await indexed.categories().value().items.count > 0)
            let now = try await session.value("SELECT version FROM dataset", as: DatasetVersion.self)
            let next = DatasetVersion(
                datasetID: DatasetID(high: 1, low: 1), revision: now.revision + 1,
                incarnation: now.incarnation)
            let facts = ServedIndex.Facts(version: next, categories: NameVocabulary(["cafe"]))
            #expect(
                index.publish(
                    IndexSnapshot(part: IndexPartBuilder(expecting: 0).build(), version: IndexVersion(facts)),
                    facts, confirmedAt: .zero, until: .seconds(1_000_000_000)))
            index.withdraw()
            await #expect(throws: PlaceStoreError.self) { _ = try await indexed.places(for: request) }
            await #expect(throws: PlaceStoreError.self) {
                _ = try await indexed.place(for: PlaceRequest(id: 1)).value()
            }
            await #expect(throws: PlaceStoreError.self) { _ = try await indexed.categories().value() }
            try await session.run("DELETE FROM locations")
            #expect(try await indexed.places(for: request).places.count == 0)
            #expect(try await indexed.categories().value().items.allSatisfy { $0.count == 0 })
            await indexed.close()
        }
    }
}
