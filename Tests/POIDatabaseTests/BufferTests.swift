import Foundation
import POIService
import PointsOfInterestAPI
import PrivateCluster
import Testing

@testable import POIDatabase

/// No request is a trap: what each reads is bounded, whatever it asks for.
///
/// `POI_TEST_PLACES` sets the number of places: `scripts/soak` takes a million.
@Suite("The pages that a request reads", .timeLimit(.minutes(10)), .serialized)
struct BufferTests {
    private static let placeCount =
        ProcessInfo.processInfo.environment["POI_TEST_PLACES"].flatMap { Int($0) } ?? 100_000
    private static let database = Result { try crowdedDatabase() }
    /// Places in 130 km around San José; ten of one category, 200 featured.
    private static func crowdedDatabase() throws -> TestDatabase {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO locations (name, category, latitude, longitude, featured)
            SELECT CASE number % 5 WHEN 0 THEN 'Café ' WHEN 1 THEN 'Museum ' ELSE 'Place ' END
                    || 'Street' || number % 1000 || ' ' || number,
                CASE WHEN number % (\(placeCount) / 10) = 7 THEN 'lighthouse'
                    ELSE (ARRAY['cafe', 'restaurant', 'museum', 'park', 'shop'])[1 + number % 5] END,
                latitude, longitude, number % (\(placeCount) / 200) = 3
            FROM (
                SELECT number, 37.3293 + (mod(number * 0.61803398875, 1)::float8 - 0.5) * 1.2 AS latitude,
                    -121.8893 + (mod(number * 0.75487766625, 1)::float8 - 0.5) * 1.6 AS longitude
                FROM generate_series(1, \(placeCount)) AS number
            ) AS place
            ORDER BY location_point(latitude, longitude);
            """)
        // An index answers alone where a vacuum has marked pages, which a snapshot at the wrong moment prevents.
        let unmarked = """
            SELECT sum(relpages - relallvisible) FROM pg_class WHERE relname IN ('locations', 'location_words')
            """
        repeat {
            try database.execute("VACUUM ANALYZE locations, location_words")
        } while try database.execute(unmarked) != "0"
        return database
    }

    private static let sanJose = Coordinate(wrapping: 37.3293, -121.8893)
    private static let centers = [
        "San José": sanJose, "New York": Coordinate(wrapping: 40.7, -74), "the antipode": sanJose.antipode,
        "Cape Town": Coordinate(wrapping: -33.9, 18.4), "an ocean": Coordinate(wrapping: -48.9, -123.4),
    ]

    private static let filters: [String: @Sendable (inout LocationsRequest) -> Void] = [
        "": { _ in }, "a rare category": { $0.categories = ["lighthouse"] },
        "a frequent category": { $0.categories = ["cafe"] },
        "categories": { $0.categories = ["cafe", "lighthouse", "zoo"] }, "featured": { $0.featured = true },
        "not featured": { $0.featured = false }, "no hit": { $0.searchText = "zzz" },
        "a rare word": { $0.searchText = "street77" }, "a frequent word": { $0.searchText = "caf" },
        "two words": { $0.searchText = "place 777" },
        "a small box": { $0.box = BoundingBox(west: -121.9, south: 37.3, east: -121.89, north: 37.31) },
        "the whole Earth": { $0.box = BoundingBox(west: -180, south: -90, east: 180, north: 90) },
        "a thin band": { $0.box = BoundingBox(west: -180, south: 37.3, east: 180, north: 37.3001) },
    ]

    /// What is bounded less: several categories, each of which is looked for; and words that every fifth name
    /// has, whose names have to be read.
    private static let greatestCounts = [
        "categories": 4000, "a frequent word": 20_000, "a rare word": 10_000, "two words": 10_000,
    ]

    @Test("Are few for every filter, near and far", arguments: ["force_generic_plan", "force_custom_plan"])
    func filters(planCacheMode: String) async throws {
        for (place, center) in Self.centers.sorted(by: { $0.key < $1.key }) {
            for (name, setFilter) in Self.filters.sorted(by: { $0.key < $1.key }) {
                var request = LocationsRequest(center: center)
                setFilter(&request)
                try await expectFewBuffers(
                    request, "\(place) \(name) \(planCacheMode)", planCacheMode,
                    atMost: Self.greatestCounts[name] ?? 2000)
            }
        }
    }

    @Test("Are few for pairs of filters, near and far")
    func pairs() async throws {
        let names = ["a rare category", "featured", "no hit", "a frequent category", "a small box"]
        for (place, center) in Self.centers.sorted(by: { $0.key < $1.key }) {
            for (index, first) in names.enumerated() {
                for second in names[(index + 1)...] {
                    var request = LocationsRequest(center: center)
                    Self.filters[first]?(&request)
                    Self.filters[second]?(&request)
                    try await expectFewBuffers(
                        request, "\(place) \(first) \(second)", "auto", atMost: 2000)
                }
            }
        }
    }

    @Test("Are few for pages deep down", arguments: [1000, 10_000, 100_000])
    func deepPages(depth: Int) async throws {
        guard depth < Self.placeCount else { return }
        for (place, center) in Self.centers.sorted(by: { $0.key < $1.key }) {
            let distances = try Self.database.get().execute(
                """
                SELECT id, distance FROM (
                    SELECT id, geog <-> location_point(\(center.latitude), \(center.longitude)) AS distance
                    FROM locations) AS place ORDER BY distance OFFSET \(depth) LIMIT 1
                """)
            let parts = distances.split(separator: "|")
            let position = PagePosition(
                distanceMeters: try #require(Double(parts[1])), id: try #require(Int64(parts[0])),
                count: depth)
            for name in [
                "", "a rare category", "a frequent category", "featured", "no hit", "the whole Earth",
            ] {
                var request = LocationsRequest(center: center)
                Self.filters[name]?(&request)
                request.cursor = PageCursor(position, in: request)
                // From there the page's border is 400 km long, and crowded: see Documentation/queries.md.
                let isLongBorder = place == "the antipode" && depth == 100_000
                try await expectFewBuffers(
                    request, "\(place) \(name) \(depth)", "force_generic_plan",
                    atMost: isLongBorder ? 4000 : 2000)
            }
        }
    }

    /// Asks in sessions of their own, whose end makes what they read known.
    private func expectFewBuffers(
        _ request: LocationsRequest, _ description: String, _ planCacheMode: String, atMost greatest: Int
    ) async throws {
        let database = try Self.database.get()
        let before = try buffers(of: database)
        let cubeCount = try await database.withStore(
            settings: ["plan_cache_mode": planCacheMode], listenMode: .off
        ) { store, _ in
            _ = try await store.locations(for: request)
            return store.cubeCount
        }
        let used = try buffers(of: database) - before
        if Self.placeCount >= 1_000_000 { print("buffers: \(used) cubes: \(cubeCount) \(description)") }
        #expect(used > 0, "\(description)")
        #expect(used < greatest, "\(description), \(cubeCount) cubes")
    }

    private func buffers(of database: TestDatabase) throws -> Int {
        let sum = try database.execute(
            """
            SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)
            FROM pg_statio_user_tables WHERE relname IN ('locations', 'location_words')
            """)
        return try #require(Int(sum))
    }
}
