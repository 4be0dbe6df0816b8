import DifficultPlaces
import Foundation
import Geodesy
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase

/// How PostgreSQL goes about the service's statements, with many places that are all far from some of the centres.
@Suite("The plans", .timeLimit(.minutes(5)))
struct PlanTests {
    private static let centers = [
        Coordinate(wrapping: 37.3293, -121.8893), Coordinate(wrapping: 40.7128, -74.006),
        Coordinate(wrapping: 0, -150), Coordinate(wrapping: 51.5, 0),
    ]

    /// The server begins with plans for the values at hand and may go over to one for any: both have to be good.
    @Test(
        "The nearest places are found by a few pages of the n-D index, from other continents too",
        arguments: ["force_generic_plan", "force_custom_plan"], [1, 8, 20, 50, 100])
    func nearest(planCacheMode: String, limit: Int) throws {
        for center in Self.centers {
            let query = try Self.query(center, limit: limit) { _ in }
            let prepared = try #require(query.prepared)
            #expect(prepared.sql == query.sql && prepared.parameterTypes == query.parameters.map(\.type))
            let plan = try Plan(of: query, planCacheMode, CrowdedDatabase.database.get())
            #expect(plan.indexes == ["locations_geocentric_idx"], "\(center): \(plan.text)")
            #expect(!plan.text.contains("Sort"), "\(center): \(plan.text)")
            // A row is a page of the table. From afar all places are about as far, so that some 90 leaves of the index have to
            // be read whatever the limit is.
            #expect(plan.touchedBuffers < limit + 124, "\(center): \(plan.text)")
        }
    }

    /// PostgreSQL keeps a plan for any values if it isn't estimated to cost more than the plans for the values at hand, for
    /// each of which it adds 2.5, and 2.5 more for each table (`cached_plan_cost` in its plancache.c). Otherwise it plans each
    /// request anew, which takes longer than to run it.
    @Test(
        "A prepared statement is planned once: for any values it seems to cost no more than for those at hand"
    )
    func plannedOnce() throws {
        var statements = [false, true].map {
            (PlaceStatements.byID(withNames: $0), [PostgresValue.int8Array([1])])
        }
        for center in Self.centers {
            for start in [nil, PagePosition(distanceMeters: 1000, id: 1, count: 20)] {
                let ranking = Ranking(center: center, radiusMeters: nil, limit: 21, after: start)
                let search = DirectSearch(NearbyPlacesRequest(center: center, limit: 20), ranking)
                let query = try #require(search.firstQuery)
                statements.append((try #require(query.prepared), query.parameters))
            }
        }
        for (statement, parameters) in statements {
            let costs = try ["force_custom_plan", "force_generic_plan"].map {
                try Plan(of: statement.sql.text, parameters, $0, CrowdedDatabase.database.get()).cost
            }
            #expect(costs[1] < costs[0] + 5, "\(statement.sql.text)")
        }
    }

    @Test("A filtered search uses the index that reads the fewest places that don't match")
    func filters() throws {
        let box = BoundingBox(west: -121.9, south: 37.3, east: -121.89, north: 37.31)
        let filters: [(String, Set<String>, Int, (inout NearbyPlacesRequest) -> Void)] = [
            ("frequent", ["locations_geocentric_idx"], 300, { $0.categories = ["cafe"] }),
            ("rare", ["locations_category_idx"], 30, { $0.categories = ["lighthouse"] }),
            ("rare dataset", ["locations_source_is_unique"], 40, { $0.datasets = ["few", "none"] }),
            ("large dataset", ["locations_geocentric_idx"], 300, { $0.datasets = ["many"] }),
            ("featured", ["locations_featured_idx"], 300, { $0.featured = true }),
            ("not featured", ["locations_geocentric_idx"], 200, { $0.featured = false }),
            ("box", ["locations_geocentric_idx"], 100, { $0.box = box }),
            ("none", ["locations_category_idx"], 40, { $0.categories = ["zoo"] }),
        ]
        for (name, indexes, maximumBuffers, filter) in filters {
            for (index, center) in Self.centers.enumerated() {
                let query = try Self.query(center, limit: 20, filter)
                #expect(query.prepared == nil)
                let plan = try Plan(of: query, "auto", CrowdedDatabase.database.get())
                // From afar no place may be near enough, which the n-D index tells as well.
                if index == 0 {
                    #expect(Set(plan.indexes.map(String.init)) == indexes, "\(name): \(plan.text)")
                }
                #expect(plan.touchedBuffers < maximumBuffers, "\(name) \(center): \(plan.text)")
            }
        }
    }

    @Test("A place is read by its key")
    func byID() throws {
        let plan = try Plan(
            of: PlaceStatements.byID(withNames: true).sql.text, [.int8Array([1, 2, 3])], "force_generic_plan",
            CrowdedDatabase.database.get())
        #expect(plan.indexes == ["locations_pkey"], "\(plan.text)")
        #expect(plan.touchedBuffers < 30, "\(plan.text)")
    }

    @Test("The names of datasets are read from an index, a few pages for each, however many places they have")
    func vocabulary() throws {
        let plan = try Plan(
            of: PlaceStatements.vocabulary.sql.text, [], "force_generic_plan",
            CrowdedDatabase.database.get())
        #expect(Set(plan.indexes) == ["locations_source_is_unique"], "\(plan.text)")
        #expect(plan.touchedBuffers < 40, "\(plan.text)")
    }

    /// The question that a request begins with.
    private static func query(
        _ center: Coordinate, limit: Int, _ filter: (inout NearbyPlacesRequest) -> Void
    ) throws -> NearestQuery {
        var request = NearbyPlacesRequest(center: center, limit: limit)
        filter(&request)
        let ranking = try #require(Ranking(pageOf: request))
        return try #require(DirectSearch(request, ranking).firstQuery)
    }
}

/// What EXPLAIN says of a statement that has run with its parameters.
private struct Plan {
    let text: String

    init(of query: NearestQuery, _ planCacheMode: String, _ database: TestDatabase) throws {
        try self.init(of: query.sql.text, query.parameters, planCacheMode, database)
    }

    init(
        of statement: String, _ parameters: [PostgresValue], _ planCacheMode: String, _ database: TestDatabase
    ) throws {
        text = try database.execute(
            """
            SET plan_cache_mode = \(planCacheMode);
            SET jit = off;
            SET max_parallel_workers_per_gather = 0;
            PREPARE statement\(Self.list(parameters.map(\.typeName))) AS \(statement);
            EXPLAIN (ANALYZE, BUFFERS, TIMING OFF)
            EXECUTE statement\(Self.list(parameters.map(\.literal)))
            """)
    }

    private static func list(_ texts: [String]) -> String {
        texts.isEmpty ? "" : " (\(texts.joined(separator: ", ")))"
    }

    /// The indexes of places that are scanned.
    var indexes: [Substring] {
        text.matches(of: /Index (?:Only )?Scan (?:using|on) (location\w+)/).map(\.1)
    }

    /// What the whole statement was estimated to cost, in PostgreSQL's unit.
    var cost: Double {
        text.firstMatch(of: /cost=[\d.]+\.\.([\d.]+)/).flatMap { Double($0.1) } ?? .nan
    }

    /// Pages that were looked at by the whole statement, which the first node's line sums up.
    var touchedBuffers: Int {
        guard let match = text.firstMatch(of: /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/) else {
            return .max
        }
        return [match.1, match.2].compactMap { $0.flatMap { Int($0) } }.reduce(0, +)
    }
}

extension PostgresValue {
    fileprivate var typeName: String {
        switch self {
        case .float8: "float8"
        case .float8Array: "float8[]"
        case .textArray: "text[]"
        default: "bigint[]"
        }
    }

    fileprivate var literal: String {
        switch self {
        case .float8(let number): "\(number)"
        case .float8Array(let numbers): "'{\(numbers.map { "\($0)" }.joined(separator: ","))}'"
        case .textArray(let texts): "'{\(texts.joined(separator: ","))}'"
        case .int8Array(let numbers): "'{\(numbers.map { "\($0)" }.joined(separator: ","))}'"
        default: "NULL"
        }
    }
}

/// A database with so many places that a statement without its index would be noticed.
///
/// `POI_TEST_PLACES` sets the number of places: `scripts/soak` takes a million.
enum CrowdedDatabase {
    static let placeCount =
        ProcessInfo.processInfo.environment["POI_TEST_PLACES"].flatMap { Int($0) } ?? 100_000

    /// Nobody writes to it.
    static let database = Result { try make() }

    /// Places in 130 km around San José, the same in every run, and in spatial order as an import writes them; ten of
    /// one category, ten of one dataset and half of them of another, 200 featured.
    private static func make() throws -> TestDatabase {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO locations (name, category, latitude, longitude, featured,
                source_dataset, source_id, source_license)
            SELECT CASE number % 5 WHEN 0 THEN 'Café ' WHEN 1 THEN 'Museum ' ELSE 'Place ' END
                    || 'Street' || number % 1000 || ' ' || number,
                CASE WHEN number % (\(placeCount) / 10) = 7 THEN 'lighthouse'
                    ELSE (ARRAY['cafe', 'restaurant', 'museum', 'park', 'shop'])[1 + number % 5] END,
                latitude, longitude, number % (\(placeCount) / 200) = 3,
                dataset, CASE WHEN dataset IS NOT NULL THEN number END,
                CASE WHEN dataset IS NOT NULL THEN 'CC0-1.0' END
            FROM (
                SELECT number, 37.3293 + (mod(number * 0.61803398875, 1)::float8 - 0.5) * 1.2 AS latitude,
                    -121.8893 + (mod(number * 0.75487766625, 1)::float8 - 0.5) * 1.6 AS longitude,
                    CASE WHEN number % (\(placeCount) / 10) = 9 THEN 'few' WHEN number % 2 = 0 THEN 'many' END
                        AS dataset
                FROM generate_series(1, \(placeCount)) AS number
            ) AS place
            ORDER BY location_point(latitude, longitude);
            """)
        // An index is read alone only for pages that a vacuum has marked, which a snapshot at the wrong moment prevents.
        let unmarked = """
            SELECT sum(relpages - relallvisible) FROM pg_class WHERE relname = 'locations'
            """
        repeat {
            try database.execute("VACUUM ANALYZE locations")
        } while try database.execute(unmarked) != "0"
        return database
    }
}
