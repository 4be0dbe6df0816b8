import BruteForce
import Locking
import Loopback
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres
import PrivateCluster
import Randomness
import Telemetry
import Testing

@testable import POIDatabase

/// Places that are written past the triggers that record changes, so that memory and table differ under one dataset id.
@Suite("Drift", .timeLimit(.minutes(5)))
struct DriftTests {
    /// Ways past the triggers.
    enum Way: CaseIterable {
        /// As subscribers of logical replication write.
        case replica
        /// As `pg_restore --disable-triggers` writes.
        case disabled

        func transaction(_ change: String) -> String {
            switch self {
            case .replica: "BEGIN; SET LOCAL session_replication_role = replica; \(change); COMMIT"
            case .disabled:
                """
                BEGIN; ALTER TABLE locations DISABLE TRIGGER ALL; \(change);
                ALTER TABLE locations ENABLE TRIGGER ALL; COMMIT
                """
            }
        }
    }

    /// A place with an id that is chosen.
    private static func insertion(_ id: Int) -> String {
        """
        INSERT INTO locations (id, name, category, latitude, longitude) OVERRIDING SYSTEM VALUE
        VALUES (\(id), 'Place past', 'park', 1, 2)
        """
    }

    private static let closing =
        "UPDATE locations SET operating_status = 'permanentlyClosed' WHERE id IN (17, 33)"

    /// Changes of each column that memory serves, and of which places there are.
    private static let changes =
        [
            "name = 'Place renamed'", "category = 'cafe'", "latitude = 1.5", "longitude = 1.5",
            "featured = NOT featured", "address = 'Elsewhere'", "address = NULL",
            "website = 'https://example.org/other'", "source_dataset = 'other'", "names = '{\"en\": \"x\"}'",
            "source_id = 'other'", "other_names = '{x}'",
            "source_license = 'other'", "operating_status = 'permanentlyClosed'",
            "operating_status = 'temporarilyClosed'", "version = 1",
            "updated_at = '2001-02-03 04:05:06Z'",
        ].map { "UPDATE locations SET \($0) WHERE id = 28" }
        + [
            "UPDATE locations SET operating_status = NULL WHERE id = 33",
            "UPDATE locations SET name = 'Place renamed' WHERE id = 33",
            "DELETE FROM locations WHERE id IN (1, 17, 40)", "DELETE FROM locations", insertion(1000),
            insertion(-5), "\(insertion(1000)); DELETE FROM locations WHERE id <> 1000",
        ]

    @Test(
        "A place that is written past the triggers is noticed and mended, and no tag of before is confirmed",
        arguments: Way.allCases)
    func places(way: Way) async throws {
        let database = try IndexFollowerTests.database(places: 40)
        try await database.withFollower(verifying: 7) { followed in
            for change in Self.changes {
                try database.execute(
                    "TRUNCATE locations RESTART IDENTITY; \(IndexFollowerTests.places(40)); \(Self.closing)")
                try await followed.waitForNewest()
                let before = followed.index.status.differenceCount
                let id = try #require(followed.servedID)
                try database.execute(way.transaction(change))
                try await followed.waitForMended()
                // The database doesn't know of it.
                #expect(try await followed.datasetID() == id)
                #expect(followed.servedID != id, "\(change)")
                #expect(followed.index.status.differenceCount > before, "\(change)")
                try await followed.compare(isRenamed: true)
            }
            #expect(followed.observations.names.contains("index-differed"))
            #expect(!followed.observations.names.contains("index-withdrawn"))
        }
    }

    @Test("A change of the table that rewrites its values is noticed and mended")
    func rewritten() async throws {
        let database = try IndexFollowerTests.database(places: 40)
        try await database.withFollower(verifying: 7) { followed in
            let id = followed.servedID
            try database.execute(
                "ALTER TABLE locations ALTER COLUMN address TYPE text USING 'Rewritten ' || id")
            try await followed.waitForMended()
            #expect(followed.servedID != id)
            try await followed.compare(isRenamed: true)
        }
    }

    @Test("Categories and datasets that are written past the triggers are noticed and mended")
    func facts() async throws {
        let database = try IndexFollowerTests.database(places: 8)
        try await database.withFollower(verifying: 7) { followed in
            for change in [
                "INSERT INTO categories VALUES ('new_kind')",
                "INSERT INTO datasets VALUES ('test', 'CC0-1.0', '© test', NULL)",
            ] {
                let id = followed.servedID
                try database.execute(Way.replica.transaction(change))
                try await followed.wait { followed.servedID != id }
            }
            #expect(followed.store.vocabulary?.categories.contains("new_kind") == true)
            #expect(try await followed.store.attributions().value().items.first?.credit == "© test")
            #expect(followed.index.status.differenceCount == 2)
            #expect(followed.observations.all.contains(.factsDiffered))
        }
    }

    @Test(
        "Other filterable properties that are written past the triggers are noticed, and places found by them"
    )
    func filterableProperties() async throws {
        let database = try IndexFollowerTests.database(places: 8)
        try database.execute(
            """
            UPDATE locations SET properties = '{"material": "steel"}' WHERE id = 5;
            INSERT INTO filterable_properties VALUES ('open', 'boolean')
            """)
        try await database.withFollower(verifying: 7) { followed in
            let id = followed.servedID
            try database.execute(
                Way.replica.transaction("UPDATE filterable_properties SET name = 'material', type = 'text'"))
            try await followed.wait { followed.servedID != id }
            var request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1))
            request.propertyFilters = [PropertyFilter("material", anyOf: ["steel"])]
            #expect(try await followed.pageInMemory(request).places.copied().map(\.id) == [5])
            #expect(followed.store.vocabulary?.properties == FilterableProperties([("material", .text)]))
            #expect(try await followed.datasetID() == id)
            #expect(followed.index.status.differenceCount == 1 && followed.index.status.loadCount == 2)
            #expect(!followed.observations.names.contains("index-withdrawn"))
        }
    }

    @Test("Verification finds no difference in places that others write meanwhile")
    func writers() async throws {
        let database = try IndexFollowerTests.database(places: 60)
        let generator = SeededGenerator()
        try await database.withFollower(verifying: 9) { followed in
            let start = followed.session.loop.now
            let isOver = Lock(false)
            let write: @Sendable (UInt64) async throws -> Void = { number in
                try await database.withSession { session in
                    var generator = SeededGenerator(seed: generator.seed &+ number)
                    while !isOver.withLock({ $0 }) { try await Self.write(session, using: &generator) }
                }
            }
            async let first: Void = write(1)
            async let second: Void = write(2)
            // Rounds that began after the writers.
            var rounds: Set<Duration> = []
            do {
                try await followed.wait {
                    let time = followed.index.status.verifiedAt
                    if let time, time > start { rounds.insert(time) }
                    return rounds.count >= 8
                }
            } catch {
                isOver.withLock { $0 = true }
                throw error
            }
            isOver.withLock { $0 = true }
            _ = try await (first, second)
            try await followed.waitForNewest()
            #expect(followed.index.status.differenceCount == 0)
            #expect(!followed.observations.names.contains("index-differed"))
        }
    }

    /// One transaction of one statement or two.
    private static func write(
        _ session: PostgresConnection, using generator: inout SeededGenerator
    ) async throws {
        let id = Int.random(in: 1...90, using: &generator)
        let statements = [
            "UPDATE locations SET latitude = -latitude WHERE id % 10 = \(id % 10)",
            "UPDATE locations SET name = 'Place \(id)', featured = NOT featured WHERE id / 4 = \(id / 4)",
            "DELETE FROM locations WHERE id = \(id)", "DELETE FROM locations WHERE id > 60",
            IndexFollowerTests.places(1, from: id), IndexFollowerTests.places(2, from: id),
        ]
        let count = Int.random(in: 1...2, using: &generator)
        let chosen = (0..<count).compactMap { _ in statements.randomElement(using: &generator) }
        do {
            _ = try await session.query("BEGIN")
            for statement in chosen { try await session.run(statement) }
            _ = try await session.query("COMMIT")
        } catch let error as PostgresError
            where error.sqlState?.rawValue.hasPrefix("40") == true
            || error.sqlState?.rawValue == "23505"
        {
            // The two were in each other's way, or a source id is taken.
            _ = try await session.query("ROLLBACK")
        }
    }

    @Test("Places that were mended keep their other id, also when a failover brings their revision back")
    func idAfterFailover() async throws {
        let database = try IndexFollowerTests.database(places: 40)
        try await database.withFollower(verifying: 7) { followed in
            let before = try #require(followed.served)
            try database.execute(Way.replica.transaction(Self.changes[0]))
            try await followed.wait { followed.servedID != before.datasetID }
            try database.execute("UPDATE locations SET featured = true WHERE id = 2")
            try await followed.waitForNewest()
            try database.execute("DELETE FROM dataset_log WHERE revision > \(before.revision)")
            try await followed.wait { followed.served == before && followed.servedID != nil }
            #expect(followed.servedID != before.datasetID)
        }
    }

    @Test("A disabled or missing trigger is reported, and leaves the store ready")
    func triggers() async throws {
        let database = try IndexFollowerTests.database(places: 8)
        try await database.withFollower(verifying: 7) { followed in
            for (change, names) in [
                (
                    "ALTER TABLE locations DISABLE TRIGGER locations_record_deleted",
                    ["locations_record_deleted"]
                ),
                ("ALTER TABLE locations ENABLE ALWAYS TRIGGER locations_record_deleted", []),
                (
                    "ALTER TABLE dataset_changes ENABLE REPLICA TRIGGER dataset_changes_renew_dataset",
                    ["dataset_changes_renew_dataset"]
                ),
                (
                    "DROP TRIGGER categories_mark_dataset_change ON categories",
                    ["categories_mark_dataset_change", "dataset_changes_renew_dataset"]
                ),
            ] {
                try database.execute(change)
                let expected: IndexObservation =
                    names.isEmpty ? .triggersActive : .triggersInactive(names: names)
                // The status is set before the observation is made.
                try await followed.wait { followed.observations.all.last == expected }
                #expect(followed.index.status.inactiveTriggerCount == names.count)
                #expect(await followed.store.checkHealth() == .reachable(missingMigrations: []))
            }
        }
    }

    @Test("poi reindex makes the follower read everything again by another id")
    func reindex() async throws {
        let database = try IndexFollowerTests.database(places: 40)
        // Without verification.
        try await database.withFollower { followed in
            let id = followed.servedID
            try database.execute(Way.replica.transaction(Self.changes[0]))
            let lines = Lock<[String]>([])
            let configuration = try database.configuration()
            try await offPool {
                try DatasetRenewal(configuration).run { line in lines.withLock { $0.append(line) } }
            }
            try await followed.waitForNewest()
            #expect(followed.servedID != id)
            #expect(followed.index.status.loadCount == 2)
            let revision = try #require(followed.served?.revision)
            #expect(
                lines.withLock { $0 } == ["revision \(revision): every server reads all places again"])
            let marks: Int = try await followed.session.value("SELECT count(*) FROM dataset_changes")
            #expect(marks == 0)
        }
    }

    @Test("poi reindex fails, and changes nothing, where the trigger that renews the dataset is disabled")
    func reindexWithoutTrigger() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute("ALTER TABLE dataset_changes DISABLE TRIGGER USER")
        let configuration = try database.configuration()
        await #expect {
            try await offPool { try DatasetRenewal(configuration).run { _ in } }
        } throws: { "\($0)".contains("dataset_changes_renew_dataset") }
        let marks = try await database.withSession { session in
            try await session.value("SELECT count(*) FROM dataset_changes", as: Int.self)
        }
        #expect(marks == 0)
    }
}

extension FollowedDatabase {
    /// Waits until all that is in memory is what the table has.
    fileprivate func waitForMended() async throws {
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1), limit: 100)
        request.languages = ["en"]
        try await wait {
            let places = try await pageInMemory(request).places.copied(languages: ["en"])
            let stored = try await database.places(for: request).places.copied(languages: ["en"])
            return places.isSame(as: stored, of: request)
        }
        // Lists don't have all places, nor when they were changed.
        let all = NearbyPlacesRequest(ids: Array(1...100))
        try await wait {
            try await pageInMemory(all).places.details() == database.places(for: all).places.details()
        }
        // Names that are only searched aren't shown.
        request.searchText = "x"
        let named = "SELECT count(*) FROM locations WHERE 'x' = ANY (other_names) OR names->>'en' = 'x'"
        try await wait {
            let count = try await pageInMemory(request).places.count
            return try await count == session.value(named, as: Int.self)
        }
    }
}

@Suite("Rounds of verification")
struct VerificationRoundsTests {
    /// Verifies as the follower does: up to `limit` of the ids at a time.
    private static func verify(
        _ ids: [Int64], _ limit: Int, in rounds: inout VerificationRounds, at time: Duration
    ) -> ClosedRange<Int64> {
        let first = rounds.next
        let found = ids.filter { $0 >= first }.prefix(limit)
        let last = found.count < limit ? .max : found.last ?? .max
        rounds.verified(through: last, at: time)
        return first...last
    }

    @Test("Each round covers every possible id, whichever ids exist and wherever the round begins")
    func complete() {
        var generator = SeededGenerator()
        for _ in 0..<300 {
            let count = Int.random(in: 0..<12, using: &generator)
            var ids = Set((0..<count).map { _ in Int64.random(in: -9...9, using: &generator) })
            for id in [Int64.min, .max] where Bool.random(using: &generator) { ids.insert(id) }
            let start =
                [ids.randomElement(using: &generator) ?? 3, .min, .max, 0]
                .randomElement(using: &generator) ?? 0
            var rounds = VerificationRounds(loadedAt: .zero, start: start)
            var (ranges, time): ([ClosedRange<Int64>], Duration) = ([], .zero)
            for _ in 0..<3 {
                let (before, began) = (rounds.verifiedAt, time + .seconds(1))
                ranges = []
                while rounds.verifiedAt == before || ranges.isEmpty {
                    time += .seconds(1)
                    ranges.append(Self.verify(ids.sorted(), 3, in: &rounds, at: time))
                    guard ranges.count < 20 else { break }
                }
                let asked = Array(ids) + [.min, .max, start, 0, -10, 10]
                #expect(asked.allSatisfy { id in ranges.contains { $0.contains(id) } }, "\(ids), \(ranges)")
                #expect(rounds.verifiedAt == began)
            }
        }
    }
}
