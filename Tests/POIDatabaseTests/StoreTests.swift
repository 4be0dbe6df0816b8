import DifficultPlaces
import Locking
import EventLoop
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase

/// What the store does beside finding places.
@Suite("The store over PostgreSQL", .timeLimit(.minutes(5)))
struct StoreTests {
    private static let places = """
        INSERT INTO locations (name, category, latitude, longitude, featured)
        SELECT 'Place ' || n, CASE WHEN n % 3 = 0 THEN 'cafe' ELSE 'park' END, n % 80, n % 170, n % 5 = 0
        FROM generate_series(1, 300) AS n
        """

    @Test("Properties and importance come with the places: all by the id, in lists those that are asked for")
    func properties() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO locations (name, category, latitude, longitude, importance, properties) VALUES
                ('a', 'cafe', 1, 1, 1000, '{"b": [1, {"c": "\\"}"}], "a": null}'), ('b', 'cafe', 1, 1.1, 0, '{}'),
                ('c', 'cafe', 1, 1.2, 3, NULL)
            """)
        try await database.withStore { store, _ in
            func written(_ places: any PlaceSource, _ selection: PropertySelection) throws -> [String] {
                try (0..<places.count).map { index in
                    var writer = JSONWriter()
                    try places.write(index, as: PlaceStyle(.json, properties: selection), to: &writer)
                    let json = String(decoding: writer.bytes, as: UTF8.self)
                    return String(json.split(separator: "\"featured\":false")[1].dropFirst().dropLast())
                }
            }
            let byID = try await store.places(for: NearbyPlacesRequest(ids: [1, 2, 3])).places
            #expect(
                try written(byID, .all) == [
                    #""importance":1000,"properties":{"a":null,"b":[1,{"c":"\"}"}]}"#, #""properties":{}"#,
                    #""importance":3"#,
                ])
            #expect(try written(byID, .none) == [#""importance":1000"#, "", #""importance":3"#])
            for limit in [2, 100] {
                var request = NearbyPlacesRequest(
                    center: try Coordinate(latitude: 1, longitude: 1), limit: limit)
                request.properties = ["b", "x"]
                let list = try await store.places(for: request).places
                let shown = try written(list, PropertySelection(names: request.properties))
                #expect(
                    shown[0].hasSuffix(#""importance":1000,"properties":{"b":[1,{"c":"\"}"}]}"#), "\(shown)")
                #expect(shown.dropFirst().allSatisfy { !$0.contains("properties") }, "\(shown)")
            }
        }
    }

    @Test("A name in a language comes from the database as from memory, by position and by id, in both forms")
    func languages() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO locations (name, category, latitude, longitude, names, other_names, properties) VALUES
                ('a"', 'cafe', 1, 1, '{"ja": "\\"東\\\\", "EN-us": "x"}', '{b,c}', '{"p": 1}'), ('b', 'cafe', 1, 1.1, NULL, '{d}', NULL)
            """)
        try await database.withFollower(usesIndexAlways: true) { followed in
            for languages in [[], ["fr"], ["ja"], ["fr", "en-us-x-a", "ja"]] {
                for limit in [2, 100] {
                    var request = NearbyPlacesRequest(
                        center: try Coordinate(latitude: 1, longitude: 1), limit: limit)
                    request.languages = languages
                    request.properties = limit == 2 ? ["p"] : []
                    var byID = NearbyPlacesRequest(ids: [1, 2])
                    byID.languages = languages
                    for request in [request, byID] {
                        let pages = [
                            try await followed.database.places(for: request).places,
                            try await followed.store.places(for: request).places,
                        ]
                        for form in PlacesForm.allCases {
                            let bodies = try pages.map { places in
                                var writer = JSONWriter()
                                try PlaceStyle(form, request.content).write(places, to: &writer)
                                return String(decoding: writer.bytes, as: UTF8.self)
                            }
                            #expect(bodies[0] == bodies[1])
                            let name =
                                languages == ["ja"]
                                ? #""name":"\"東\\","language":"ja""# : #""name":"x","language":"EN-us""#
                            let usual = #""name":"a\"","category""#
                            #expect(
                                bodies[0].contains(languages.contains("ja") ? name : usual), "\(bodies[0])")
                            #expect(bodies[0].contains(#""name":"b","category""#))
                        }
                    }
                }
            }
        }
    }

    @Test(
        "Properties that aren't a small object are refused, and an importance out of range",
        arguments: [
            "properties = '[]'", "properties = '1'", "properties = 'null'",
            #"properties = '{"a":{"b":{"c":{}}}}'"#,
            #"properties = '{"a":[[[]]]}'"#,
            #"properties = json_build_object('a', repeat('x', 4090))::jsonb"#, #"properties = '{"a":1e309}'"#,
            #"properties = '{"a":-1e-400}'"#, "importance = -1", "importance = 1001",
            "importance = NULL",
        ])
    func refusedProperties(assignment: String) throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        let taken = [
            #"properties = '{"a":{"b":{"c":1}}, "d":[[1]]}'"#, "properties = NULL", "importance = 1000",
            #"properties = json_build_object('a', repeat('x', 4080))::jsonb"#,
        ]
        for assignment in taken { try database.execute("UPDATE locations SET \(assignment) WHERE id = 1") }
        #expect(throws: (any Error).self) {
            try database.execute("UPDATE locations SET \(assignment) WHERE id = 1")
        }
    }

    @Test("A search of several statements whose connections are lost on the way finds the same places")
    func lostConnections() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        let kill =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'"
        try await database.withStore { store, _ in
            var request = NearbyPlacesRequest(center: try Coordinate(latitude: 7, longitude: 8))
            request.categories = ["cafe"]
            let expected = try await store.places(for: request)
            let names = try expected.places.copied().map(\.name)
            #expect(!names.isEmpty && expected.datasetID != nil)
            let kills = Lock(0)
            let searches = Lock(0)
            async let killing: Void = Task.detached {
                for _ in 1...5 {
                    // None is killed more often than it may be sent again.
                    let count = searches.withLock { $0 }
                    while searches.withLock({ $0 }) < count + 2 { await Task.yield() }
                    _ = try database.cluster.execute(kill)
                    kills.withLock { $0 += 1 }
                }
            }.value
            while kills.withLock({ $0 }) < 5 {
                let page = try await store.places(for: request)
                #expect(try page.places.copied().map(\.name) == names)
                #expect(page.datasetID == expected.datasetID)
                searches.withLock { $0 += 1 }
            }
            try await killing
            // One that is just being made anew is there for no kill.
            #expect(store.pool.statistics.exclusive.lostConnections >= 3)
        }
    }

    @Test("A page without places has its dataset too")
    func datasetOfNothing() async throws {
        try await MigratedDatabase.empty().withStore { store, session in
            let id = try await session.value("SELECT id FROM dataset", as: DatasetID.self)
            let center = try Coordinate(latitude: 1, longitude: 1)
            var requests = [NearbyPlacesRequest(center: center), NearbyPlacesRequest(center: center)]
            requests += [["zoo"], []].map { NearbyPlacesRequest(center: center, categories: $0) }
            requests += ["zzz", "%"].map { NearbyPlacesRequest(center: center, searchText: $0) }
            requests.append(NearbyPlacesRequest(center: center, featured: true))
            for request in requests {
                let page = try await store.places(for: request)
                #expect(page.places.count == 0)
                #expect(page.datasetID == id, "\(request)")
                #expect(page.databaseDuration ?? .zero > .zero)
            }
            #expect(try await store.categories().value().datasetID == id)
        }
    }

    @Test("Places are found without a dataset if the dataset's row is gone")
    func missingDataset() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute("\(Self.places); DELETE FROM dataset_log")
        try await database.withStore { store, _ in
            let page = try await store.places(
                for: NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1)))
            #expect(page.places.count == 20)
            #expect(page.datasetID == nil)
        }
    }

    // A search for words has a connection to itself, and locks the places first. On the other connections, a cancel request
    // could meet another query, so none is sent while there are several.

    @Test("A cancelled request's slow statement is cancelled in the database")
    func cancelling() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        try await database.withStore { store, session in
            try await Self.waitForVocabulary(store, session)
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE locations")
            let bound = LoopBound(store, loop: store.pool.loop)
            let task = Task(executorPreference: store.pool.loop) { () -> PlaceStoreError? in
                do throws(PlaceStoreError) {
                    let center = Coordinate(wrapping: 1, 1)
                    _ = try await bound.value.places(
                        for: NearbyPlacesRequest(center: center, searchText: "place"))
                    return nil
                } catch {
                    return error
                }
            }
            while try await !Self.hasWaitingQuery(session, like: "LOCK TABLE%") {}
            task.cancel()
            #expect(await task.value == .cancelled)
            while try await Self.hasWaitingQuery(session, like: "LOCK TABLE%") {}
            try await session.run("ROLLBACK")
            let page = try await store.places(
                for: NearbyPlacesRequest(center: Coordinate(wrapping: 1, 1), searchText: "place"))
            #expect(page.places.count == 20)
        }
    }

    @Test(
        "A request that waits for a table to be rewritten finds the places that it has then",
        arguments: [nil, "place"])
    func rewrittenTable(searchText: String?) async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        try await database.withStore { store, session in
            await store.warmUp()
            try await session.run("BEGIN")
            try await session.run("ALTER TABLE locations ADD COLUMN number serial")
            let bound = LoopBound(store, loop: store.pool.loop)
            let task = Task(executorPreference: store.pool.loop) {
                let center = Coordinate(wrapping: 1, 1)
                let page = try await bound.value.places(
                    for: NearbyPlacesRequest(center: center, searchText: searchText))
                return try page.places.copied().count
            }
            while try await !Self.hasWaitingQuery(session) {}
            try await session.run("COMMIT")
            #expect(try await task.value == 20)
        }
    }

    @Test(
        "A request whose time is up fails, whatever it waited for, and leaves nothing behind in the database",
        arguments: [nil, "place"])
    func requestTimeout(searchText: String?) async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        try await database.withStore(
            requestTimeout: .milliseconds(300), statementTimeout: .seconds(2)
        ) { store, session in
            // Connecting may take longer than that, which is another failure.
            await store.pool.waitUntilTried()
            try await Self.waitForVocabulary(store, session)
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE locations")
            let request = NearbyPlacesRequest(
                center: Coordinate(wrapping: 1, 1), searchText: searchText,
                featured: searchText == nil ? true : nil)
            // The second waits for the only connection, which the first has.
            let bound = LoopBound(store, loop: store.pool.loop)
            let requests = (0..<2).map { _ in
                Task(executorPreference: bound.loop) { await Self.failure(of: request, bound.value) }
            }
            for task in requests {
                let failure = await task.value
                #expect(failure == .timeout(.query) || failure == .timeout(.connection))
            }
            while try await Self.hasWaitingQuery(session, like: Self.search) {}
            try await session.run("ROLLBACK")
        }
    }

    // Without the request's deadline, this would take the 60 s of a statement.

    @Test("Reading the categories takes no longer than a request may")
    func vocabularyTimeout() async throws {
        let database = try MigratedDatabase.empty()
        try await database.withStore(requestTimeout: .milliseconds(300)) { store, session in
            try await Self.waitForVocabulary(store, session)
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE categories")
            let start = ContinuousClock.now
            do throws(PlaceStoreError) {
                _ = try await store.currentVocabulary().value()
                Issue.record("It was read in spite of the lock.")
            } catch {
                #expect(error == .timeout(.query))
            }
            #expect(ContinuousClock.now - start < .seconds(30))
            try await session.run("ROLLBACK")
        }
    }

    /// Waits until the store has read the vocabulary, which a lock on the places would hold up.
    private static func waitForVocabulary(
        _ store: PostgresPlaceStore, _ session: PostgresConnection
    ) async throws {
        while store.vocabulary == nil {
            try Task.checkCancellation()
            try await session.run("SELECT 1")
        }
    }

    /// What only the text of a search for places has: the vocabulary is read again and again, and may wait, too.
    private static let search = "%<<->>%"

    /// Whether a query with such a text waits for a lock in the test's own database.
    private static func hasWaitingQuery(
        _ session: PostgresConnection, like pattern: String = "%"
    ) async throws -> Bool {
        // Within a transaction, the activity stays as it was when it was first read.
        try await session.run("SELECT pg_stat_clear_snapshot()")
        return try await session.value(
            """
            SELECT count(*) > 0 FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '\(pattern)'
            """)
    }

    private static func failure(
        of request: NearbyPlacesRequest, _ store: PostgresPlaceStore
    ) async -> PlaceStoreError? {
        do throws(PlaceStoreError) {
            _ = try await store.places(for: request)
            return nil
        } catch {
            return error
        }
    }
}
