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
    private static let greatestCount = 2000

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
        try database.execute("VACUUM ANALYZE locations, location_words")
        return database
    }

    private struct Question: CustomTestStringConvertible {
        let testDescription: String
        let request: LocationsRequest
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

    @Test(
        "Stay below 2000 for every filter and pair of filters, near and far",
        arguments: ["force_generic_plan", "force_custom_plan"])
    func filtersAndPairs(planCacheMode: String) async throws {
        let names = Self.filters.keys.sorted()
        for (place, center) in Self.centers.sorted(by: { $0.key < $1.key }) {
            for (index, first) in names.enumerated() {
                for second in names[index...] {
                    var request = LocationsRequest(center: center)
                    Self.filters[first]?(&request)
                    Self.filters[second]?(&request)
                    let description = "\(place) \(first) \(second) \(planCacheMode)"
                    try await expectFewBuffers(request, description, planCacheMode)
                }
            }
        }
    }

    @Test(
        "Stay below 2000 for pages deep down", arguments: ["force_generic_plan", "force_custom_plan"],
        [1000, 10_000, 100_000])
    func deepPages(planCacheMode: String, depth: Int) async throws {
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
                distanceMeters: try #require(Double(parts[1])), id: try #require(Int64(parts[0])), count: depth)
            for name in ["", "a rare category", "a frequent category", "featured", "no hit", "the whole Earth"] {
                var request = LocationsRequest(center: center)
                Self.filters[name]?(&request)
                request.cursor = PageCursor(position, in: request)
                let description = "\(place) \(name) \(depth) \(planCacheMode)"
                try await expectFewBuffers(request, description, planCacheMode)
            }
        }
    }

    /// Asks in sessions of their own, whose end makes what they read known.
    private func expectFewBuffers(
        _ request: LocationsRequest, _ description: String, _ planCacheMode: String
    ) async throws {
        let database = try Self.database.get()
        let before = try buffers(of: database)
        let count = try await database.withStore(settings: ["plan_cache_mode": planCacheMode]) { store, _ in
            _ = try await store.locations(for: request)
            return store.cubeCount
        }
        let used = try buffers(of: database) - before
        if ProcessInfo.processInfo.environment["POI_TEST_PLACES"] != nil {
            print("buffers: \(used) cubes: \(count) \(description)")
        }
        #expect(used > 0, "\(description)")
        #expect(used < Self.greatestCount, "\(description), \(count) cubes")
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
