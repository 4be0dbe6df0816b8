import DifficultPlaces
import Foundation
import POIService
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase

extension CrowdedDatabaseTests {
    /// How PostgreSQL goes about the service's statements, with many places that are all far from the centre.
    @Suite("The plans", .timeLimit(.minutes(5)))
    struct PlanTests {
        /// The server begins with plans for the values at hand and may go over to one for any: both have to be good.
        @Test(
            "The nearest places come from the n-D index, by a handful of pages, from other continents too",
            arguments: ["force_generic_plan", "force_custom_plan"], [8, 20, 50, 100])
        func nearest(planCacheMode: String, limit: Int) throws {
            let nearest = try #require(PlaceStatements.nearest(limit: limit))
            for center in ["40.7128, -74.006", "37.3293, -121.8893", "-90, 0", "51.5, 0", "0, 180"] {
                let plan = try Plan(
                    of: nearest.statement.sql.text, "float8, float8", center, planCacheMode,
                    CrowdedDatabase.database.get())
                #expect(plan.indexes == ["locations_geocentric_idx"], "\(center): \(plan.text)")
                #expect(!plan.text.contains("Sort"), "\(center): \(plan.text)")
                // A row is a page of the table. Seen from the pole all places are about as far, so that some 90
                // leaves of the index have to be read whatever the limit is.
                #expect(plan.touchedBuffers < nearest.candidateLimit + 120, "\(center): \(plan.text)")
            }
        }

        @Test(
            "Every other statement reads by its index alone, analysed or not, whatever the parameters are",
            arguments: ["force_generic_plan", "force_custom_plan"], [true, false])
        func searches(planCacheMode: String, isAnalysed: Bool) throws {
            let database = try (isAnalysed ? CrowdedDatabase.database : CrowdedDatabase.neverAnalysed).get()
            for search in Self.searches {
                let plan = try Plan(
                    of: search.statement.sql.text, search.types, search.values, planCacheMode, database)
                let description = "\(search.name), analysed: \(isAnalysed): \(plan.text)"
                #expect(Set(plan.indexes.map(String.init)) == search.indexes, "\(description)")
                #expect(!plan.text.contains("Seq Scan on location"), "\(description)")
                #expect(plan.touchedBuffers < search.maximumBuffers, "\(description)")
            }
        }

        private struct Search {
            let name: String
            let statement: PreparedStatement
            let types: String
            let values: String
            let indexes: Set<String>
            var maximumBuffers = 250
        }

        /// A cube of all places, one in their middle, and one of a few metres.
        private static let cubes: String = {
            let point = Ellipsoid.point(Coordinate(wrapping: 37.3293, -121.8893))
            var cubes = [SpaceCube.root]
            while let child = cubes.last?.child(at: point) { cubes.append(child) }
            let keys = [cubes[0], cubes[13], cubes[21]].map(\.keys)
            return "'{\(keys.map { "\($0.lowerBound)" }.joined(separator: ","))}', "
                + "'{\(keys.map { "\($0.upperBound)" }.joined(separator: ","))}'"
        }()

        private static let smallCubes: String = {
            cubes.replacing(/\{0,/, with: "{1,").replacing("9223372036854775807,", with: "1,")
        }()

        private static let searches: [Search] = {
            let indexes: [CubeStatement.Source: String] = [
                .all: "locations_space_key_idx", .featured: "locations_featured_space_key_idx",
                .categories: "locations_category_space_key_idx",
            ]
            let words = WordStatements.standard
            return CubeStatement.all.compactMap { shape in
                guard let prepared = shape.prepared, let index = indexes[shape.source] else { return nil }
                let hasCategories = shape.source == .categories
                return Search(
                    name: "\(shape)", statement: prepared,
                    types: "bigint[], bigint[]" + (hasCategories ? ", text[], bigint[]" : ""),
                    values: (shape.isLimited ? cubes : smallCubes)
                        + (hasCategories ? ", '{cafe,cafe,park,zoo}', '{0,1,0,0}'" : ""),
                    indexes: [index])
            } + [
                Search(
                    name: "few", statement: words.few, types: "text[], text[], boolean, text[]",
                    values: "'{lighthouse,street77,place}', '{\"% street77%\",\"% place%\"}', NULL, NULL",
                    indexes: ["location_words_word_idx", "locations_pkey"],
                    // Before the first vacuum an index alone can't tell which rows are visible.
                    maximumBuffers: 2500),
                Search(
                    name: "every", statement: words.every, types: "text[], text[], boolean, text[]",
                    values: "'{museum,cafe}', '{\"% museum%\",\"% cafe%\"}', NULL, NULL",
                    indexes: ["location_words_word_idx", "locations_pkey"],
                    maximumBuffers: 500 + CrowdedDatabase.placeCount / 100),
                Search(
                    name: "nearby", statement: words.nearby, types: "float8, float8, text[], boolean, text[]",
                    values: "37.3293, -121.8893, '{\"% cafe%\"}', NULL, '{cafe}'",
                    indexes: ["locations_geocentric_idx"], maximumBuffers: 1000),
                Search(
                    name: "positions", statement: PlaceStatements.positions, types: "bigint[]",
                    values: "'{1,2,3,4,5}'", indexes: ["locations_pkey"]),
                Search(
                    name: "by id", statement: PlaceStatements.byID, types: "bigint[]",
                    values: "'{1,2,3,4,5}'", indexes: ["locations_pkey"]),
            ]
        }()
    }
}

/// What EXPLAIN says of a prepared statement that has run.
private struct Plan {
    let text: String

    init(
        of statement: String, _ types: String, _ values: String, _ planCacheMode: String,
        _ database: TestDatabase
    ) throws {
        text = try database.execute(
            """
            SET plan_cache_mode = \(planCacheMode);
            SET jit = off;
            SET max_parallel_workers_per_gather = 0;
            PREPARE statement (\(types)) AS \(statement);
            EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) EXECUTE statement (\(values))
            """)
    }

    /// The indexes that are scanned.
    var indexes: [Substring] {
        text.matches(of: /Index (?:Only )?Scan (?:using|on) (location\w+)/).map(\.1)
    }

    /// Pages that were looked at by the whole statement, which the first node's line sums up.
    var touchedBuffers: Int {
        guard let match = text.firstMatch(of: /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/) else {
            return .max
        }
        return [match.1, match.2].compactMap { $0.flatMap { Int($0) } }.reduce(0, +)
    }
}
