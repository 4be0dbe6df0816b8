import DifficultPlaces
import POIService
import PointsOfInterestAPI
import Postgres
import Testing

@testable import POIDatabase

extension CrowdedDatabaseTests {
    /// What a process asks before it is ready, where places are dense and all in one region, far from most points.
    @Suite("The warm start", .timeLimit(.minutes(5)))
    struct WarmStartCostTests {
        @Test("Runs a bounded number of statements, each of which reads few pages")
        func cost() async throws {
            try await CrowdedDatabase.database.get().withStore(listenMode: .off) { store, session in
                let before = try await Self.counts(store, session)
                store.learningLimit = .seconds(120)
                await store.learnRegionsOnce()
                let after = try await Self.counts(store, session)
                let (statements, buffers) = (after.0 - before.0, after.1 - before.1)
                if CrowdedDatabase.placeCount >= 1_000_000 {
                    print("warm start: \(statements) statements, \(buffers) buffers")
                }
                #expect(statements < 1000)
                #expect(buffers < 64_000)
                #expect(store.dataset.regions.hasPlaces(104, near: Coordinate(wrapping: 37.3293, -121.8893)))
                #expect(!store.dataset.regions.hasPlaces(12, near: Coordinate(wrapping: -37, 58)))
            }
        }

        /// The transactions so far, one for each statement, and the pages of places that they read.
        private static func counts(
            _ store: PostgresPlaceStore, _ session: PostgresConnection
        ) async throws -> (Int, Int) {
            for lane in PoolLaneName.allCases {
                _ = try await store.pool.query(
                    PostgresQuery("SELECT pg_stat_force_next_flush()"), lane: lane)
            }
            let row = try await session.run(
                """
                SELECT pg_stat_get_db_xact_commit(oid),
                    (SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::bigint
                        FROM pg_statio_user_tables WHERE relname = 'locations')
                FROM pg_database WHERE datname = current_database()
                """
            ).only()
            return (try row.decode(at: 0), try row.decode(at: 1))
        }
    }
}
