import Foundation
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
            let nearest = try #require(LocationStatements.nearest(limit: limit))
            for center in ["40.7128, -74.006", "37.3293, -121.8893", "-90, 0", "51.5, 0", "0, 180"] {
                let plan = try Plan(
                    of: nearest.statement.sql.text, "float8, float8", center, planCacheMode,
                    CrowdedDatabase.database.get())
                #expect(plan.indexes == ["locations_geocentric_idx"], "\(center): \(plan.text)")
                #expect(!plan.text.contains("Sort"), "\(center): \(plan.text)")
                #expect(plan.touchedBuffers < 200, "\(center): \(plan.text)")
            }
        }
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
        text.matches(of: /Index Scan (?:using|on) (\w+)/).map(\.1)
    }

    /// Pages that were looked at by the whole statement, which the first node's line sums up.
    var touchedBuffers: Int {
        guard let match = text.firstMatch(of: /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/) else {
            return .max
        }
        return [match.1, match.2].compactMap { $0.flatMap { Int($0) } }.reduce(0, +)
    }
}
