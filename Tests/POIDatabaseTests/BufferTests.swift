import DifficultPlaces
import Foundation
import POIService
import PointsOfInterestAPI
import Postgres
import Testing

@testable import POIDatabase

extension CrowdedDatabaseTests {
    /// What a request reads is bounded, whatever it asks for.
    @Suite("The pages that a request reads", .timeLimit(.minutes(10)))
    struct BufferTests {
        private static let sanJose = Coordinate(wrapping: 37.3293, -121.8893)
        private static let centers = [
            "San José": sanJose, "New York": Coordinate(wrapping: 40.7, -74),
            "the antipode": sanJose.antipode,
            "Cape Town": Coordinate(wrapping: -33.9, 18.4), "an ocean": Coordinate(wrapping: -48.9, -123.4),
        ]

        private static let filters: [String: @Sendable (inout NearbyPlacesRequest) -> Void] = [
            "": { _ in }, "a rare category": { $0.categories = ["lighthouse"] },
            "a frequent category": { $0.categories = ["cafe"] },
            "categories": { $0.categories = ["cafe", "lighthouse", "zoo"] },
            "featured": { $0.featured = true },
            "not featured": { $0.featured = false }, "no hit": { $0.searchText = "zzz" },
            "a rare word": { $0.searchText = "street77" }, "a frequent word": { $0.searchText = "caf" },
            "two words": { $0.searchText = "place 777" },
            "frequent words that never meet": { $0.searchText = "cafe museum" },
            "a frequent word of no such category": {
                ($0.searchText, $0.categories) = ("museum", ["cafe"])
            },
            "a letter": { $0.searchText = "p" }, "letters": { $0.searchText = "p s 1 2 3" },
            "a small box": { $0.box = BoundingBox(west: -121.9, south: 37.3, east: -121.89, north: 37.31) },
            "the whole Earth": { $0.box = BoundingBox(west: -180, south: -90, east: 180, north: 90) },
            "a thin band": { $0.box = BoundingBox(west: -180, south: 37.3, east: 180, north: 37.3001) },
        ]

        /// What is bounded less: several categories, each of which is looked for; and searches by text, which read the
        /// entries of their rarest word at most, fifty a page.
        private static func maximumCount(_ filter: String) -> Int {
            let entries = [
                "a frequent word": 5, "frequent words that never meet": 5,
                "a frequent word of no such category": 5, "a letter": 1, "letters": 5,
            ]
            if let share = entries[filter] { return 2000 + CrowdedDatabase.placeCount / share / 50 }
            return filter == "categories" ? 4000 : 2000
        }

        @Test(
            "Are few for every filter, near and far", arguments: ["force_generic_plan", "force_custom_plan"])
        func filters(planCacheMode: String) async throws {
            try await Self.withCounter(planCacheMode) { counter in
                for (place, center) in Self.centers.sorted(by: { $0.key < $1.key }) {
                    for (name, setFilter) in Self.filters.sorted(by: { $0.key < $1.key }) {
                        var request = NearbyPlacesRequest(center: center)
                        setFilter(&request)
                        try await counter.expectFewBuffers(
                            request, "\(place) \(name) \(planCacheMode)",
                            atMost: Self.maximumCount(name))
                    }
                }
            }
        }

        @Test("Are few for pairs of filters, near and far")
        func pairs() async throws {
            let names = ["a rare category", "featured", "no hit", "a frequent category", "a small box"]
            try await Self.withCounter("auto") { counter in
                for (place, center) in Self.centers.sorted(by: { $0.key < $1.key }) {
                    for (index, first) in names.enumerated() {
                        for second in names[(index + 1)...] {
                            var request = NearbyPlacesRequest(center: center)
                            Self.filters[first]?(&request)
                            Self.filters[second]?(&request)
                            try await counter.expectFewBuffers(
                                request, "\(place) \(first) \(second)", atMost: 2000)
                        }
                    }
                }
            }
        }

        @Test("Are few for pages deep down", arguments: [1000, 10_000])
        func deepPages(depth: Int) async throws {
            try await expectFewBuffers(behind: depth)
        }

        @Test(
            "Are few for the deepest pages",
            .enabled(if: CrowdedDatabase.placeCount > 100_000, "only `make soak` has so many places"))
        func deepestPages() async throws {
            try await expectFewBuffers(behind: 100_000)
        }

        private func expectFewBuffers(behind depth: Int) async throws {
            try await Self.withCounter("force_generic_plan") { counter in
                for (place, center) in Self.centers.sorted(by: { $0.key < $1.key }) {
                    let end = try await counter.pageEnd(depth: depth, around: center)
                    for name in [
                        "", "a rare category", "a frequent category", "featured", "no hit", "the whole Earth",
                    ] {
                        var request = NearbyPlacesRequest(center: center)
                        Self.filters[name]?(&request)
                        request.cursor = PageCursor(end, in: request)
                        // From there the page's border is 400 km long, and crowded: see Documentation/queries.md.
                        let isLongBorder = place == "the antipode" && depth == 100_000
                        try await counter.expectFewBuffers(
                            request, "\(place) \(name) \(depth)", atMost: isLongBorder ? 4000 : 2000)
                    }
                }
            }
        }

        private static func withCounter(
            _ planCacheMode: String, _ body: @escaping @Sendable (Counter) async throws -> Void
        ) async throws {
            try await CrowdedDatabase.database.get().withStore(
                settings: ["plan_cache_mode": planCacheMode], listenMode: .off
            ) { store, session in try await body(Counter(store: store, session: session)) }
        }

        private static let printsCounts = ProcessInfo.processInfo.environment["POI_TEST_BUFFERS"] != nil

        /// Counts the pages that a store's requests read.
        private struct Counter {
            let store: PostgresPlaceStore
            let session: PostgresConnection

            func expectFewBuffers(
                _ request: NearbyPlacesRequest, _ description: String, atMost maximum: Int
            ) async throws {
                let before = try await buffers()
                _ = try await store.places(for: request)
                let used = try await buffers() - before
                if CrowdedDatabase.placeCount >= 1_000_000 || BufferTests.printsCounts {
                    print("buffers: \(used) \(description)")
                }
                #expect(used > 0, "\(description)")
                #expect(used < maximum, "\(description)")
            }

            /// The end of a page that so many places are before.
            func pageEnd(depth: Int, around center: Coordinate) async throws -> PagePosition {
                let row = try await session.run(
                    """
                    SELECT id, latitude, longitude FROM (
                        SELECT id, latitude, longitude, ST_Distance(location_point(latitude, longitude), location_point(\(center.latitude), \(center.longitude))) AS distance
                        FROM locations) AS place ORDER BY distance OFFSET \(depth) LIMIT 1
                    """
                ).only()
                let end = try Coordinate(latitude: row.decode(at: 1), longitude: row.decode(at: 2))
                return PagePosition(
                    distanceMeters: Geodesic.distanceMeters(from: center, to: end), id: try row.decode(at: 0),
                    count: depth)
            }

            /// What was read until now, once the store's sessions have reported it: by themselves they do so once a second at
            /// most (The Cumulative Statistics System, PostgreSQL's manual).
            private func buffers() async throws -> Int {
                for lane in PoolLaneName.allCases {
                    _ = try await store.pool.query(
                        PostgresQuery("SELECT pg_stat_force_next_flush()"), lane: lane)
                }
                // The session's own, too: it looks for pages deep down.
                _ = try await session.run("SELECT pg_stat_force_next_flush()")
                return try await session.value(
                    """
                    SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::bigint
                    FROM pg_statio_user_tables WHERE relname IN ('locations', 'location_words')
                    """)
            }
        }
    }
}
