import DifficultPlaces
import POIService
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import Randomness
import Testing

@testable import POIDatabase

/// Which way plain requests go: by the walk to the nearest places, or by a search.
@Suite("The walk to the nearest places", .timeLimit(.minutes(10)))
struct NearbyTests {
    @Test("Is taken by every plain request near places once one store is warm, by all stores of the process")
    func warmStart() async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        // The 104th is about 1,700 km away.
        let places = try Self.add(6000, to: database, using: generator) { Coordinate.anywhere(using: &$0) }
        let dataset = DatasetState()
        try await database.withStore(usesIndexAlways: true, dataset: dataset) { store, _ in
            store.learningLimit = .seconds(120)
            await store.warmUp()
            _ = await store.checkHealth()
        }
        // A store without a warm start of its own.
        try await database.withStore(usesIndexAlways: true, dataset: dataset) { store, _ in
            var generator = generator
            for number in 0..<300 {
                let center = places[number].moved(upTo: 1, using: &generator)
                let radius: Double? =
                    number % 3 == 0 ? .random(in: 1...3_000_000, using: &generator) : nil
                let limit = Int.random(in: NearbyPlacesRequest.limits, using: &generator)
                _ = try await store.places(
                    for: NearbyPlacesRequest(center: center, radiusMeters: radius, limit: limit))
            }
            #expect(store.nearbyCount == 300, "POI_TEST_SEED=\(generator.seed)")
            #expect(store.searchCount == 0, "POI_TEST_SEED=\(generator.seed)")
            // The first store has done it.
            _ = await store.checkHealth()
            #expect(!dataset.claimRegions())
        }
        try database.drop()
    }

    @Test("Is taken by the first request in the only region with places")
    func warmStartInOneRegion() async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        let focus = Coordinate(wrapping: 37, -121)
        _ = try Self.add(300, to: database, using: generator) { focus.moved(upTo: 1, using: &$0) }
        try await database.withStore(usesIndexAlways: true) { store, _ in
            store.learningLimit = .seconds(120)
            _ = await store.checkHealth()
            let before = store.searchCount
            for limit in [1, 100] {
                _ = try await store.places(for: NearbyPlacesRequest(center: focus, limit: limit))
            }
            #expect(store.nearbyCount == 2)
            #expect(store.searchCount == before)
        }
        try database.drop()
    }

    @Test("A warm start ends silently where there are no places, or no tables; then it isn't over")
    func failingWarmStart() async throws {
        let database = try TestDatabase()
        try await database.withStore { store, _ in
            await store.warmUp()
            guard case .reachable(let missing) = await store.checkHealth() else {
                Issue.record("the database is there")
                return
            }
            #expect(!missing.isEmpty)
            try database.migrate(.up(to: nil))
            #expect(await store.checkHealth() == .reachable(missingMigrations: []))
            #expect(!store.dataset.claimRegions())
            #expect(!store.dataset.regions.hasPlaces(12, near: Coordinate(wrapping: 0, 0)))
        }
        try database.drop()
    }

    @Test("Every point of the Earth is near one that a warm start searches from")
    func viewpoints() throws {
        var generator = SeededGenerator()
        for _ in 0..<5000 {
            let point = Coordinate.anywhere(using: &generator)
            let distance = PostgresPlaceStore.viewpoints.map {
                Geodesic.distanceMeters(from: point, to: $0)
            }.min()
            #expect(distance ?? .infinity < 2_540_000, "\(point)")
        }
    }

    @Test("Is taken behind one search around places, far from it too, for no more places than it looked for")
    func learning() async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        let focus = Coordinate(wrapping: 10, 179)
        _ = try Self.add(60, to: database, using: generator) { focus.moved(upTo: 1, using: &$0) }
        try await database.withStore(usesIndexAlways: true) { store, _ in
            let far = Coordinate(wrapping: -20, -160)
            let requests: [(Coordinate, limit: Int, radius: Double?, isWalk: Bool)] = [
                // Too few in the radius to learn from.
                (focus, 20, 1, false), (focus, 1, 500_000, false), (focus, 5, nil, true), (far, 8, nil, true),
                (focus, 9, nil, false), (far, 20, nil, true), (focus, 50, nil, false), (far, 21, nil, true),
                // There are no 104.
                (focus, 100, nil, false), (focus, 100, nil, false), (focus.antipode, 1, nil, false),
                (focus.antipode, 1, nil, false),
            ]
            for (number, (center, limit, radius, isWalk)) in requests.enumerated() {
                let before = store.nearbyCount
                _ = try await store.places(
                    for: NearbyPlacesRequest(center: center, radiusMeters: radius, limit: limit))
                #expect(store.nearbyCount == before + (isWalk ? 1 : 0), "request \(number)")
                #expect(store.nearbyCount + store.searchCount == number + 1)
            }
        }
        try database.drop()
    }

    @Test("Is no longer taken where it went far because places were deleted")
    func forgetting() async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        let focus = Coordinate(wrapping: 10, 20)
        let far = focus.moved(north: 0, east: 100)
        _ = try Self.add(60, to: database, using: generator) { focus.moved(upTo: 1, using: &$0) }
        try await database.withStore(usesIndexAlways: true) { store, session in
            _ = try await store.places(for: NearbyPlacesRequest(center: focus, limit: 20))
            _ = try await store.places(for: NearbyPlacesRequest(center: focus, limit: 20))
            #expect((store.walkCount, store.searchCount) == (1, 1))
            try await session.run(
                """
                UPDATE locations SET latitude = \(far.latitude) + id * 0.5, longitude = \(far.longitude)
                    WHERE id > 15
                """)
            let page = try await store.places(for: NearbyPlacesRequest(center: focus, limit: 20))
            #expect(page.places.count == 20)
            #expect((store.walkCount, store.searchCount) == (2, 1))
            for _ in 0..<2 { _ = try await store.places(for: NearbyPlacesRequest(center: focus, limit: 20)) }
            #expect((store.walkCount, store.searchCount) == (2, 3))
            // For fewer it is as good as before.
            _ = try await store.places(for: NearbyPlacesRequest(center: focus, limit: 8))
            #expect((store.walkCount, store.searchCount) == (3, 3))
            try await session.run("DELETE FROM locations WHERE id > 5")
            for _ in 0..<2 { _ = try await store.places(for: NearbyPlacesRequest(center: focus, limit: 8)) }
            #expect((store.walkCount, store.searchCount) == (4, 4))
        }
        try database.drop()
    }

    @Test("Beside a crowd on one point is taken once: the next pages read a fifth of the buffers")
    func crowds() async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        let crowd = Coordinate(wrapping: 47.01, 8.01)
        let beside = crowd.moved(north: 0.003, east: 0)
        _ = try Self.add(10_000, to: database, using: generator) { _ in crowd }
        _ = try Self.add(100, to: database, using: generator) {
            crowd.moved(north: 1, east: 1).moved(upTo: 0.1, using: &$0)
        }
        try database.execute("VACUUM ANALYZE locations")
        try await database.withStore(listenMode: .off) { store, session in
            let counter = Counter(store: store, session: session)
            store.learningLimit = .seconds(120)
            _ = await store.checkHealth()
            let before = (walks: store.walkCount, searches: store.searchCount)
            let first = try await counter.buffers(NearbyPlacesRequest(center: beside))
            #expect(store.walkCount == before.walks + 1 && store.searchCount == before.searches + 1)
            for limit in [20, 50, 100] {
                let next = try await counter.buffers(NearbyPlacesRequest(center: beside, limit: limit))
                #expect(next * 5 < first, "limit \(limit)")
            }
            #expect(store.walkCount == before.walks + 1)
            // None of these places would be on the page, but the walk would meet them.
            let other = crowd.moved(north: -0.1, east: 0)
            let radius = NearbyPlacesRequest(center: other, radiusMeters: 100, limit: 20)
            let proven = try await counter.buffers(radius)
            #expect(store.walkCount == before.walks + 2)
            let next = try await counter.buffers(radius)
            #expect(next * 5 < proven)
            #expect(store.walkCount == before.walks + 2)
            // Where the crowd is far behind the nearest places, nothing is in the walk's way.
            for _ in 0..<2 {
                _ = try await store.places(
                    for: NearbyPlacesRequest(center: crowd.moved(north: 1, east: 1), limit: 8))
            }
            #expect(store.walkCount == before.walks + 4)
        }
        try database.drop()
    }

    @Test("A few places on one point are no crowd")
    func smallGroups() async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        let group = Coordinate(wrapping: 47.01, 8.01)
        _ = try Self.add(100, to: database, using: generator) { _ in group }
        _ = try Self.add(200, to: database, using: generator) { group.moved(upTo: 0.1, using: &$0) }
        try await database.withStore(usesIndexAlways: true) { store, _ in
            store.learningLimit = .seconds(120)
            _ = await store.checkHealth()
            let before = store.walkCount
            for _ in 0..<3 { _ = try await store.places(for: NearbyPlacesRequest(center: group)) }
            #expect(store.walkCount == before + 3)
        }
        try database.drop()
    }

    /// Writes so many places of one category.
    private static func add(
        _ count: Int, to database: TestDatabase, using generator: SeededGenerator,
        at place: (inout SeededGenerator) -> Coordinate
    ) throws -> [Coordinate] {
        var generator = generator
        let places = (0..<count).map { _ in place(&generator) }
        let rows = places.map { "('Place', 'cafe', \($0.latitude), \($0.longitude))" }
        try database.execute(
            "INSERT INTO locations (name, category, latitude, longitude) VALUES "
                + rows.joined(separator: ","))
        return places
    }

    /// Counts the pages of places that a store's requests read.
    private struct Counter {
        let store: PostgresPlaceStore
        let session: PostgresConnection

        func buffers(_ request: NearbyPlacesRequest) async throws -> Int {
            let before = try await total()
            _ = try await store.places(for: request)
            return try await total() - before
        }

        private func total() async throws -> Int {
            for lane in PoolLaneName.allCases {
                _ = try await store.pool.query(
                    PostgresQuery("SELECT pg_stat_force_next_flush()"), lane: lane)
            }
            return try await session.value(
                """
                SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::bigint
                FROM pg_statio_user_tables WHERE relname = 'locations'
                """)
        }
    }
}
