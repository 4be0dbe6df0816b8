import Locking
import EventLoop
import Foundation
import Places
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase

/// Counting categories for a whole process, against the real database.
@Suite("The categories' counts", .timeLimit(.minutes(5)))
struct SharedCountsTests {
    private static let insertion = """
        INSERT INTO locations (name, category, latitude, longitude) VALUES ('A', 'zoo', 1, 1)
        """

    /// How many places a count has found.
    private static func total(_ counts: DatasetCounts<CategoryCount>) -> Int {
        counts.items.reduce(0) { $0 + $1.count }
    }

    /// As many requests at once.
    private static func request(_ store: PostgresPlaceStore, _ count: Int) -> [Task<
        DatasetCounts<CategoryCount>, any Error
    >] {
        let bound = LoopBound(store, loop: store.pool.loop)
        return (0..<count).map { _ in
            Task(executorPreference: bound.loop) { try await bound.value.categories().value() }
        }
    }

    /// Waits until so many requests wait for the count. The session gives the loop its turns; the store's connection may be
    /// busy counting.
    private static func wait(
        _ store: PostgresPlaceStore, _ session: PostgresConnection, waiting count: Int
    ) async throws {
        while store.dataset.categoryCounts.waiting != count {
            try Task.checkCancellation()
            try await session.run("SELECT 1")
        }
    }

    @Test(
        "While a writer commits steadily, requests are served by few counts, each of one state of the data")
    func steadyWrites() async throws {
        try await MigratedDatabase.empty().withStore { store, session in
            let writer = LoopBound(session, loop: session.loop)
            let (commitCount, isEnough) = (Lock(0), Lock(false))
            let writing = Task(executorPreference: session.loop) {
                var totals: [DatasetID: Int] = [:]
                while !isEnough.withLock({ $0 }) {
                    try await writer.value.run(Self.insertion)
                    let row = try await writer.value.run(
                        "SELECT id, (SELECT count(*) FROM locations) FROM dataset"
                    ).only()
                    totals[try row.decode(at: 0)] = try row.decode(at: 1)
                    commitCount.withLock { $0 += 1 }
                }
                return totals
            }
            var responses: [DatasetCounts<CategoryCount>] = []
            // On a busy machine a count takes long, and the next one waits ten times as long.
            while commitCount.withLock({ $0 }) < 300 || Set(responses.map(\.datasetID)).count < 2 {
                for request in Self.request(store, 20) { responses.append(try await request.value) }
                // Lets the writer go on where all of them were served from memory.
                _ = await store.checkHealth()
            }
            isEnough.withLock { $0 = true }
            let totals = try await writing.value
            for response in responses.dropFirst(20) {
                // The empty table's is not the writer's.
                guard let id = response.datasetID, let total = totals[id] else {
                    #expect(response.datasetID != nil && Self.total(response) == 0)
                    continue
                }
                #expect(Self.total(response) == total)
            }
            // Those that ask in one turn begin one at most.
            let count = store.dataset.categoryCounts.countsBegun
            #expect(count <= responses.count / 20, "\(count) counts for \(responses.count) requests")
        }
    }

    @Test("Counting reads about as many pages as the table has, also where many rows are dead")
    func deadRows() async throws {
        let database = try MigratedDatabase.empty()
        // Neighbours are of different categories, so an index that is ordered by those leads to and fro.
        try database.execute(
            """
            ALTER TABLE locations SET (autovacuum_enabled = false);
            INSERT INTO locations (name, category, latitude, longitude, address)
            SELECT 'Place ' || number, (ARRAY['cafe', 'museum', 'park', 'shop', 'zoo'])[1 + number % 5],
                number * 0.001, 1, repeat('a', 300)
            FROM generate_series(1, 10000) AS number;
            VACUUM ANALYZE locations;
            UPDATE locations SET address = 'B' WHERE id % 10 = 0;
            """)
        try await database.withSession { session in
            try await session.run("SET jit = off")
            try await session.run("SET max_parallel_workers_per_gather = 0")
            let pages = try await session.value(
                "SELECT pg_relation_size('locations') / current_setting('block_size')::bigint", as: Int.self)
            let text = try await session.value(
                "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) \(PlaceStatements.categories.sql.text)",
                as: String.self)
            let plan = try #require(
                try JSONDecoder().decode([Explanation].self, from: Data(text.utf8)).first
            ).plan
            #expect(plan.hit + plan.read <= pages + 20, "\(pages) pages: \(text)")
        }
    }

    @Test("A waiter's cancellation ends its waiting at once, and not the count")
    func cancellation() async throws {
        try await MigratedDatabase.empty().withStore { store, session in
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE locations")
            let requests = Self.request(store, 3)
            try await Self.wait(store, session, waiting: 3)
            // The one that began the count, too.
            for request in requests.prefix(2) { request.cancel() }
            for request in requests.prefix(2) {
                await #expect(throws: PlaceStoreError.cancelled) { try await request.value }
            }
            #expect(store.dataset.categoryCounts.waiting == 1)
            try await session.run("COMMIT")
            #expect(try await requests[2].value.datasetID != nil)
            #expect(store.dataset.categoryCounts.countsBegun == 1)
        }
    }

    @Test("A store that is closed says so, and doesn't count")
    func closed() async throws {
        try await MigratedDatabase.empty().withStore { store, _ in
            await store.close()
            for _ in 0..<3 {
                await #expect(throws: PlaceStoreError.unavailable(reason: "the store is closed")) {
                    try await store.categories().value()
                }
            }
        }
    }

    @Test("A request that waits for another store's count goes on by itself if that store closes")
    func handover() async throws {
        let database = try MigratedDatabase.empty()
        let dataset = DatasetState()
        try await database.withStore(dataset: dataset) { other, session in
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE locations")
            let bound = LoopBound(other, loop: other.pool.loop)
            let requests = Lock<[Task<DatasetCounts<CategoryCount>, any Error>]>([])
            try await database.withStore(dataset: dataset) { store, ownSession in
                _ = Self.request(store, 1)
                try await Self.wait(store, ownSession, waiting: 1)
                let others = await Task(executorPreference: bound.loop) { Self.request(bound.value, 2) }.value
                try await Self.wait(store, ownSession, waiting: 3)
                requests.withLock { $0 = others }
            }
            try await session.run("COMMIT")
            for request in requests.withLock({ $0 }) { #expect(try await request.value.datasetID != nil) }
            #expect(dataset.categoryCounts.countsBegun == 2)
        }
    }
}
