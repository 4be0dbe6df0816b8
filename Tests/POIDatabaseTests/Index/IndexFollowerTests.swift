import BruteForce
import Locking
import Places
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import SpatialIndex
import Testing

@testable import POIDatabase

/// Places in memory that follow the real database.
@Suite("The follower", .timeLimit(.minutes(5)))
struct IndexFollowerTests {
    /// Places all over the world, of two categories.
    static func places(_ count: Int, from first: Int = 1) -> String {
        """
        INSERT INTO locations (name, category, latitude, longitude, featured, address, website,
            source_dataset, source_id, source_license)
        SELECT 'Place ' || n, CASE WHEN n % 3 = 0 THEN 'cafe' ELSE 'park' END, n % 80, n % 170, n % 5 = 0,
            CASE WHEN n % 2 = 0 THEN 'Straße ' || n END, CASE WHEN n % 7 = 0 THEN 'https://example.org/' || n END,
            CASE WHEN n % 4 = 0 THEN 'test' END, CASE WHEN n % 4 = 0 THEN n::text END, CASE WHEN n % 4 = 0 THEN 'CC0-1.0' END
        FROM generate_series(\(first), \(first + count - 1)) AS n
        """
    }

    /// A database with so many places.
    static func database(places count: Int) throws -> TestDatabase {
        let database = try MigratedDatabase.empty()
        try database.execute(places(count))
        return database
    }

    @Test("The follower serves the database's places and every change of them")
    func changes() async throws {
        let database = try Self.database(places: 300)
        try await database.withFollower { followed in
            for change in [
                Self.places(3, from: 301),
                "UPDATE locations SET name = 'Renamed', latitude = -latitude WHERE id % 9 = 0",
                "DELETE FROM locations WHERE id % 10 = 1", "INSERT INTO categories VALUES ('new_kind')",
                "UPDATE locations SET category = 'new_kind' WHERE id % 11 = 0",
                "UPDATE locations SET operating_status = 'permanentlyClosed' WHERE id % 6 = 0",
                "UPDATE locations SET operating_status = 'temporarilyClosed', featured = true WHERE id % 5 = 0",
                "UPDATE locations SET operating_status = 'permanentlyClosed' WHERE id % 7 = 0",
                "DELETE FROM locations WHERE id % 21 = 0",
                "UPDATE locations SET featured = true WHERE false",
                "BEGIN; DELETE FROM locations WHERE id = 2; \(Self.places(1, from: 400)); COMMIT",
            ] {
                try database.execute(change)
                try await followed.waitForNewest()
            }
            #expect(followed.index.status.loadCount == 1)
            #expect(followed.store.vocabulary?.categories.contains("new_kind") == true)
        }
    }

    @Test("A place that closes for good is in its details and no list, and in all again once it opens")
    func closing() async throws {
        let database = try Self.database(places: 40)
        try database.execute(
            """
            UPDATE locations SET properties = '{"material": "steel"}', featured = true, latitude = 10.5, longitude = 20.5,
                name = 'Closing ' || id WHERE id IN (12, 24);
            INSERT INTO filterable_properties VALUES ('material', 'text')
            """)
        try await database.withFollower { followed in
            for (status, isListed) in [
                ("'temporarilyClosed'", true), ("'permanentlyClosed'", false), ("NULL", true),
                ("'permanentlyClosed'", false), ("'temporarilyClosed'", true),
            ] {
                let before = try await followed.lastChanges(of: 12)
                try database.execute("UPDATE locations SET operating_status = \(status) WHERE id = 12")
                try await followed.waitForNewest()
                let expected = isListed ? [12, 24] : [24]
                for (form, ids) in try await followed.listedIDs() {
                    #expect(ids == expected, "\(status): \(form)")
                }
                let changes = try await followed.lastChanges(of: 12)
                #expect(Set(changes).count == 1 && Set(changes).isDisjoint(with: before))
                let counts = try await followed.store.categories().value().items
                #expect(counts.first { $0.name == "cafe" }?.count == (isListed ? 13 : 12))
                #expect(try await followed.store.attributions().value().items.map(\.places) == [10])
                #expect(try await followed.database.attributions().value().items.map(\.places) == [10])
            }
        }
    }

    @Test("The follower reads everything again after TRUNCATE and after a change of more than 10,000 places")
    func reloads() async throws {
        let database = try Self.database(places: 20)
        try await database.withFollower { followed in
            try database.execute("TRUNCATE locations")
            try await followed.waitForNewest()
            #expect(followed.index.status.loadCount == 2)
            try database.execute(Self.places(10_001))
            try await followed.waitForNewest()
            #expect(followed.index.status.loadCount == 3)
            #expect(!followed.observations.names.contains("index-withdrawn"))
        }
    }

    @Test("The follower misses no change while its connections are killed")
    func killedConnections() async throws {
        let database = try Self.database(places: 50)
        try await database.withFollower { followed in
            let kill = """
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> \(followed.session.backendProcessID)
                """
            for round in 0..<5 {
                // In one session, so that the change is there before anybody connects again.
                try database.execute(
                    "\(kill); UPDATE locations SET name = 'Round \(round)' WHERE id % 5 = \(round); \(kill)")
                try await followed.waitForNewest()
            }
            #expect(followed.index.status.loadCount == 1)
        }
    }

    @Test(
        "The follower takes nothing from a table that was rewritten or emptied after its snapshot began",
        arguments: [
            // Makes the follower read some places, or all of them.
            "INSERT INTO dataset_log (place_ids) VALUES ('{1, 2, 3}')",
            "REFRESH MATERIALIZED VIEW dataset_incarnation",
        ], ["ALTER TABLE locations ADD COLUMN note float8 DEFAULT random()", "TRUNCATE locations"])
    func rewritten(cause: String, rewriting: String) async throws {
        let database = try Self.database(places: 20)
        try await database.withFollower { followed in
            try await followed.session.run("BEGIN")
            try await followed.session.run(rewriting)
            try database.execute(cause)
            // It has its snapshot, and waits for the table.
            try await followed.wait {
                try await followed.session.value(
                    """
                    SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'locations'::regclass
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    """)
            }
            try await followed.session.run("COMMIT")
            try await followed.waitForNewest()
        }
    }

    @Test(
        "The follower withdraws its places when the database was restored, and then serves the restored ones")
    func restored() async throws {
        let database = try Self.database(places: 20)
        try await database.withFollower { followed in
            try database.execute("REFRESH MATERIALIZED VIEW dataset_incarnation")
            try await followed.waitForNewest()
            #expect(followed.index.status.loadCount == 2)
            #expect(followed.observations.all.contains(.withdrawn(reason: "another-history")))
        }
    }

    @Test("The follower reads everything again if the log no longer has the revision that it holds")
    func pruned() async throws {
        let database = try Self.database(places: 20)
        try await database.withFollower { followed in
            try database.execute(
                """
                BEGIN; DELETE FROM locations WHERE id = 3; SET CONSTRAINTS ALL IMMEDIATE;
                DELETE FROM dataset_log WHERE revision < (SELECT max(revision) FROM dataset_log); COMMIT
                """)
            try await followed.waitForNewest()
            #expect(followed.index.status.loadCount == 2)
            // What was held is served until then.
            #expect(!followed.observations.names.contains("index-withdrawn"))
        }
    }

    @Test("The follower goes back with a primary that has lost commits, and may serve its places")
    func lostCommits() async throws {
        let database = try Self.database(places: 20)
        try await database.withFollower { followed in
            let before = try #require(followed.served)
            try database.execute("DELETE FROM locations WHERE id = 3")
            try await followed.waitForNewest()
            // As a standby would have it that was promoted without that commit.
            try database.execute(
                """
                BEGIN; SET LOCAL session_replication_role = replica; \(Self.places(1, from: 3));
                DELETE FROM dataset_log WHERE revision > \(before.revision); COMMIT
                """)
            try await followed.wait { followed.servedID == before.datasetID }
            try await followed.wait { followed.index.status.placeCount == 20 }
            #expect(followed.observations.all.contains(.withdrawn(reason: "another-history")))
        }
    }

    @Test("A primary that has lost commits is followed, also while its places are too many for memory")
    func lostCommitsOfTooLarge() async throws {
        let database = try Self.database(places: 20)
        try await database.withFollower(maximumBytes: 1 << 20) { followed in
            let before = try #require(followed.served)
            try database.execute("DELETE FROM locations WHERE id = 3")
            try await followed.waitForNewest()
            try database.execute(Self.places(10_000, from: 21))
            try await followed.wait { followed.index.status.phase == .tooLarge }
            #expect(followed.servedID != before.datasetID)
            try database.execute("DELETE FROM dataset_log WHERE revision > \(before.revision)")
            try await followed.wait {
                followed.observations.all.contains(.withdrawn(reason: "another-history"))
            }
            #expect(followed.servedID == nil)
        }
    }

    @Test("While newer places take too much memory, those from before are served, and grow old")
    func outgrown() async throws {
        let database = try Self.database(places: 20)
        try await database.withFollower(maximumBytes: 1 << 20, maxReplicaLag: .seconds(1)) { followed in
            let before = followed.servedID
            try database.execute(Self.places(10_000, from: 21))
            try await followed.wait { followed.index.status.phase == .tooLarge }
            let request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1), limit: 100)
            #expect(try await followed.pageInMemory(request).places.count == 20)
            try await followed.wait { followed.store.staleSeconds != nil }
            #expect(followed.servedID == before)
            // Whatever else changes.
            try database.execute("UPDATE locations SET featured = true WHERE id = 1")
            try await followed.wait { followed.store.staleSeconds ?? 0 >= 3 }
            #expect(followed.servedID == before && !followed.observations.names.contains("index-withdrawn"))
            #expect(followed.observations.names.filter { $0 == "index-too-large" }.count == 1)
            #expect(await followed.store.checkHealth() == .reachable(missingMigrations: []))
            try database.execute("DELETE FROM locations WHERE id > 20; VACUUM ANALYZE locations")
            try await followed.waitForNewest()
            // A look may take longer than the second for which places are new.
            try await followed.wait {
                followed.store.staleSeconds == nil && followed.index.status.phase == .serving
            }
        }
    }

    @Test("A process whose first places take too much memory isn't ready, and says how much they need")
    func tooLarge() async throws {
        let database = try Self.database(places: 10_000)
        try database.execute("ANALYZE locations")
        let needed = Lock(0)
        try await database.withFollower { followed in
            needed.withLock { $0 = Int(Double(followed.index.status.bytes) * IndexConfiguration.peakFactor) }
        }
        let actual = needed.withLock { $0 }
        // Too little for the estimate, for what is read, and for what is packed.
        for share in [0.2, 0.75, 0.97] {
            let allowed = Int(Double(actual) * share)
            try await database.withFollower(maximumBytes: allowed, waitsForNewest: false) { followed in
                try await followed.wait { followed.index.status.phase == .tooLarge }
                let request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1))
                await #expect(throws: PlaceStoreError.notReady) {
                    _ = try await followed.store.places(for: request)
                }
                #expect(await followed.store.checkHealth() == .tooLarge)
                guard case .tooLarge(10_000, let said, allowed, false)? = followed.observations.all.last
                else {
                    Issue.record("\(followed.observations.all)")
                    return
                }
                #expect(followed.observations.all.last?.level == "error")
                // With the estimate alone it is "or more".
                let lowest = share < 0.5 ? 0.4 : 0.85
                #expect((lowest...1.15).contains(Double(said) / Double(actual)), "\(said), \(actual)")
            }
        }
    }

    @Test("Source datasets and their places are counted in memory, as the database counts them")
    func attributions() async throws {
        let database = try MigratedDatabase.empty()
        let insert = """
            INSERT INTO locations (name, category, latitude, longitude, source_dataset, source_id, source_license)
            SELECT 'A', 'park', 1, 2, dataset, id, license FROM (VALUES
            """
        try database.execute(
            "\(insert) ('b', '1', 'CC0-1.0'), (NULL, NULL, NULL)) AS source (dataset, id, license)")
        try await database.withFollower { followed in
            let changes = [
                "SELECT",
                "\(insert) ('b', '2', 'CC-BY-4.0'), ('b', '3', 'CC0-1.0'), ('a', '1', 'O')) AS source (dataset, id, license)",
                "INSERT INTO datasets VALUES ('a', 'ODbL-1.0', '© a', 'https://a.example/'), ('none', 'CC0-1.0', NULL, NULL)",
                "UPDATE locations SET source_dataset = 'c' WHERE source_id = '2'",
                // Equal as strings, and not byte by byte.
                "\(insert) ('caf\u{E9}', '1', 'O'), ('cafe\u{301}', '1', 'O')) AS source (dataset, id, license)",
                "INSERT INTO datasets VALUES ('cafe\u{301}', 'ODbL-1.0', '© e', NULL)",
                "UPDATE datasets SET credit = '© other' WHERE name = 'a'",
                "DELETE FROM locations WHERE source_license = 'O'",
                "UPDATE locations SET (source_dataset, source_id, source_license) = (NULL, NULL, NULL)",
            ]
            for change in changes {
                try database.execute(change)
                try await followed.waitForNewest()
                let counts = try await followed.store.attributions().value()
                #expect(counts.databaseDuration == nil)
                #expect(counts.datasetID == followed.served?.datasetID)
                let expected = try await followed.database.attributions().value()
                #expect(counts.items == expected.items, "\(change)")
            }
        }
    }

    @Test("Places that were too many are served from memory as soon as they fit")
    func fitsAgain() async throws {
        let database = try Self.database(places: 10_000)
        try await database.withFollower(maximumBytes: 1 << 20, waitsForNewest: false) { followed in
            try await followed.wait { followed.index.status.phase == .tooLarge }
            let told = followed.observations.all.filter { $0.level == "error" }
            #expect(told.count == 1)
            try database.execute("DELETE FROM locations WHERE id > 20")
            // The planner's estimate follows a vacuum.
            try database.execute("VACUUM ANALYZE locations")
            try await followed.waitForNewest()
            #expect(followed.index.status.placeCount == 20)
            #expect(followed.observations.all.filter { $0.level == "error" } == told)
        }
    }

    @Test(
        "Every request is served from memory, with the data's age, while the database takes no connections"
    )
    func databaseAway() async throws {
        let database = try Self.database(places: 300)
        try await database.withFollower(maxReplicaLag: .seconds(1)) { followed in
            #expect(followed.store.staleSeconds == nil)
            // But for the test's own connection.
            _ = try database.cluster.execute("ALTER DATABASE \"\(database.name)\" ALLOW_CONNECTIONS false")
            try await followed.session.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """)
            try await followed.wait { followed.store.staleSeconds != nil }
            let store = followed.store
            var request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1))
            #expect(try await store.places(for: request).places.count == 20)
            request.searchText = "place"
            #expect(try await store.places(for: request).places.count == 20)
            #expect(try await store.place(for: PlaceRequest(id: 7)).value().places.count == 1)
            let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
            let map = ClustersRequest(box: earth, zoom: 0)
            #expect(try await store.clusters(for: map).sums.reduce(0) { $0 + $1.count } == 300)
            #expect(try await store.categories().value().items.map(\.count).reduce(0, +) == 300)
            #expect(try await store.attributions().value().items.map(\.places) == [75])
            // For a category that is unknown.
            #expect(try await store.currentVocabulary().value().categories.sortedNames.contains("cafe"))
            #expect(store.currentDatasetID == followed.served?.datasetID)
            _ = try database.cluster.execute("ALTER DATABASE \"\(database.name)\" ALLOW_CONNECTIONS true")
            try await followed.wait { store.staleSeconds == nil }
            #expect(!followed.observations.names.contains("index-withdrawn"))
        }
    }
}

extension FollowedDatabase {
    /// Which of the places at 10.5°, 20.5° each kind of list has, in memory and, where it can, in the database.
    fileprivate func listedIDs() async throws -> [(form: String, ids: [Int])] {
        let center = try Coordinate(latitude: 10.5, longitude: 20.5)
        let near = NearbyPlacesRequest(center: center, radiusMeters: 1)
        var byCategory = near
        byCategory.categories = ["cafe"]
        var featured = near
        featured.featured = true
        var (inBox, byText, byRelevance, byProperty) = (near, near, near, near)
        inBox.radiusMeters = nil
        inBox.box = BoundingBox(west: 20, south: 10, east: 21, north: 10.6)
        byText.searchText = "closing"
        byRelevance.searchText = "closing"
        byRelevance.sort = .relevance
        byProperty.propertyFilters = [PropertyFilter("material", anyOf: ["steel"])]
        var found: [(form: String, ids: [Int])] = []
        for (form, request) in [
            ("near", near), ("category", byCategory), ("featured", featured), ("box", inBox),
            ("text", byText),
            ("relevance", byRelevance), ("property", byProperty),
        ] {
            let places = try await pageInMemory(request).places.copied()
            found.append((form, places.map(\.id).filter { [12, 24].contains($0) }.sorted()))
        }
        for (form, request) in [("near", near), ("category", byCategory), ("featured", featured)] {
            let places = try await database.places(for: request).places.copied()
            found.append(("\(form) without an index", places.map(\.id).sorted()))
        }
        // A count has no ids.
        let cells = try #require(BoundingBox(west: 20.5, south: 10.5, east: 20.5, north: 10.5))
        for featured in [nil, true] {
            let map = ClustersRequest(box: cells, zoom: 22, featured: featured)
            let count = try await store.clusters(for: map).sums.reduce(0) { $0 + $1.count }
            found.append(("clusters", Array([24, 12].prefix(count).sorted())))
        }
        return found
    }

    /// The version of a place and when it was changed, in its details from memory and from the database.
    fileprivate func lastChanges(of id: Int) async throws -> [String] {
        var found: [String] = []
        for store in [store, database] as [any PlaceStore] {
            let details = try await store.place(for: PlaceRequest(id: id)).value().places.details()
            let change = try #require(details.first?.firstMatch(of: /"version":\d+,"updatedAt":"[^"]+"/))
            found.append(String(change.output))
        }
        return found
    }
}
