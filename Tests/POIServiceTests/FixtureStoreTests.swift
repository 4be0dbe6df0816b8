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

@Suite("Filters of the store in memory")
struct FixtureStoreFilterTests {
    private let store = FixtureStore(
        [
            Self.place(1, "Café Stritch", "cafe", 0, 1, featured: true),
            Self.place(2, "Cafe Nero", "cafe", 0, 2),
            Self.place(3, "Park of the Café", "park", 0, 3, featured: true),
            Self.place(4, "Pier", "pier", 0, 180),
            Self.place(5, "Jetty", "pier", 0, -180), Self.place(6, "Pole", "pole", 90, 77),
        ], vocabulary: FilterVocabulary(categories: ["cafe", "park", "pier", "pole", "zoo"]))

    private static func place(
        _ id: Int, _ name: String, _ category: String, _ latitude: Double, _ longitude: Double,
        featured: Bool = false
    ) -> PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured)
    }

    private func ids(_ change: (inout NearbyPlacesRequest) -> Void) async throws -> [Int] {
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 0, longitude: 0))
        change(&request)
        return try await store.places(for: request).places.copied().map(\.id)
    }

    @Test("Every filter leaves out places that don't match it, and several leave out what any of them does")
    func filters() async throws {
        #expect(try await ids { _ in } == [1, 2, 3, 6, 4, 5])
        #expect(try await ids { $0.categories = ["cafe", "park"] } == [1, 2, 3])
        #expect(try await ids { $0.categories = ["zoo"] } == [])
        #expect(try await ids { $0.featured = true } == [1, 3])
        #expect(try await ids { $0.featured = false } == [2, 6, 4, 5])
        #expect(try await ids { $0.searchText = "CAFE" } == [1, 2, 3])
        #expect(try await ids { $0.searchText = "…" } == [])
        #expect(try await ids { $0.radiusMeters = 250_000 } == [1, 2])
        #expect(
            try await ids {
                ($0.categories, $0.featured, $0.searchText, $0.radiusMeters) = (["cafe"], true, "str", 1e6)
            } == [1])
    }

    @Test(
        "A box holds its edges, the antimeridian however it is written, and a pole at any longitude"
    )
    func boxes() async throws {
        func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> BoundingBox? {
            BoundingBox(west: west, south: south, east: east, north: north)
        }
        #expect(try await ids { $0.box = box(1, 0, 2, 0) } == [1, 2])
        #expect(try await ids { $0.box = box(170, -1, -170, 1) } == [4, 5])
        #expect(try await ids { $0.box = box(170, -1, 180, 1) } == [4, 5])
        #expect(try await ids { $0.box = box(-180, 89, 180, 90) } == [6])
        #expect(try await ids { $0.box = box(0, 89, 10, 90) } == [6])
        #expect(try await ids { $0.box = box(0, 89, 10, 90.0.nextDown) } == [])
    }

    @Test("Places have distances exactly where a centre is given")
    func distances() async throws {
        let box = try #require(BoundingBox(west: 0, south: -1, east: 10, north: 1))
        let without = try await store.places(for: NearbyPlacesRequest(box: box)).places.copied()
        // From the box's middle, longitude 5.
        #expect(without.map(\.id) == [3, 2, 1])
        #expect(without.allSatisfy { $0.distance == nil })
        let center = try Coordinate(latitude: 0, longitude: 0)
        let with = try await store.places(for: NearbyPlacesRequest(center: center, box: box)).places
            .copied()
        #expect(with.map(\.id) == [1, 2, 3])
        #expect(with.first?.distance == 111_319.5)
    }

    @Test("Pages walked by their cursors hold every place once, in the order of one long page")
    func pages() async throws {
        var generator = SeededGenerator()
        let places = (1...60).map { id in
            Self.place(
                id, "Place \(id % 7)", "c\(id % 3)", Double(Int.random(in: -2...2, using: &generator)),
                Double(Int.random(in: -2...2, using: &generator)), featured: id % 2 == 0)
        }
        let store = FixtureStore(places)
        let box = try #require(BoundingBox(west: -1, south: -2, east: 2, north: 2))
        for size in [1, 4, 59, 60, 61] {
            var request = NearbyPlacesRequest(center: try Coordinate(latitude: 0.5, longitude: 0), limit: 100)
            request.box = size == 4 ? box : nil
            let whole = try await store.places(for: request).places.copied()
            request.limit = size
            var walked: [PointOfInterest] = []
            while true {
                let page = try await store.places(for: request)
                walked += try page.places.copied()
                guard let end = page.end, walked.count <= 60 else { break }
                #expect(end.count == walked.count)
                request.cursor = PageCursor(end, in: request)
            }
            #expect(walked == whole, "size \(size) POI_TEST_SEED=\(generator.seed)")
        }
    }

    @Test("A page begins where the one before ended, though that page's last place has moved or is gone")
    func changesBetweenPages() async throws {
        func place(_ id: Int, _ longitude: Double) -> PointOfInterest {
            PointOfInterest(id: id, name: "n", category: "park", latitude: 0, longitude: longitude)
        }
        let center = try Coordinate(latitude: 0, longitude: 0)
        var request = NearbyPlacesRequest(center: center, limit: 2)
        // The fourth is as far as the last one of the page.
        let places = [place(1, 0.1), place(2, 0.2), place(3, 0.3), place(4, -0.2)]
        let end = try #require(try await FixtureStore(places).places(for: request).end)
        request.cursor = PageCursor(end, in: request)
        for last in [[], [place(2, 0.05)], [place(2, 0.2)], [place(2, 0.9)]] {
            let changed = places.filter { $0.id != 2 } + last
            let page = try await FixtureStore(changed).places(for: request)
            #expect(try page.places.copied().map(\.id) == [4, 3])
            #expect((page.end != nil) == (last.first?.longitude == 0.9))
        }
    }

    @Test("A place is found by its id, with its distance if a centre is given")
    func byID() async throws {
        let center = try Coordinate(latitude: 0, longitude: 0)
        let plain = try await store.place(for: PlaceRequest(id: 1)).value()
        #expect(try plain.places.copied().map(\.distance) == [nil])
        #expect(plain.datasetID == store.currentDatasetID)
        #expect(plain.datasetID != nil)
        let far = try await store.place(for: PlaceRequest(id: 1, center: center)).value().places.copied()
        #expect(far.map(\.distance) == [111_319.5])
        #expect(try await store.place(for: PlaceRequest(id: 99)).value().places.count == 0)
    }

    @Test("Categories come with their counts, most frequent first, then by name, empty ones too")
    func categories() async throws {
        let counts = try await store.categories().value()
        #expect(counts.items.map(\.name) == ["cafe", "pier", "park", "pole", "zoo"])
        #expect(counts.items.map(\.count) == [2, 2, 1, 1, 0])
        #expect(counts.datasetID == store.currentDatasetID)
        #expect(try await store.currentVocabulary().value().categories.contains("zoo"))
    }
}
