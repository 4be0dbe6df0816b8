import BruteForce
import DifficultPlaces
import EventLoop
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres
import PrivateCluster
import SpatialIndex
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
        try await database.withFollower { followed in
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

    @Test(
        "Details say when a place was changed, in whole seconds that RFC 3339 can write, from memory as well")
    func lastChanges() async throws {
        let database = try MigratedDatabase.empty()
        let times = [
            ("2026-11-30 23:45:12.999+00", "2026-11-30T23:45:12Z"),
            ("1969-12-31 23:59:58.5+00", "1969-12-31T23:59:58Z"),
            ("infinity", "9999-12-31T23:59:59Z"), ("-infinity", "0001-01-01T00:00:00Z"),
            ("0044-03-15 12:00:00+00 BC", "0001-01-01T00:00:00Z"),
        ]
        for (number, time) in times.enumerated() {
            try database.execute(
                """
                INSERT INTO locations (name, category, latitude, longitude, version, updated_at)
                VALUES ('a', 'cafe', 1, 1, 9007199254740991 - \(number), '\(time.0)')
                """)
        }
        try await database.withFollower { followed in
            for (number, time) in times.enumerated() {
                let request = PlaceRequest(id: number + 1)
                for store in [followed.database, followed.store] as [any PlaceStore] {
                    let details = try await store.place(for: request).value().places.details()
                    let end = #","version":\#(9_007_199_254_740_991 - number),"updatedAt":"\#(time.1)"}"#
                    #expect(details.first?.hasSuffix(end) == true, "\(details)")
                }
            }
        }
    }

    @Test("A page without places has its dataset too")
    func datasetOfNothing() async throws {
        try await MigratedDatabase.empty().withStore { store, session in
            let id = try await session.value("SELECT id FROM dataset", as: DatasetID.self)
            let center = try Coordinate(latitude: 1, longitude: 1)
            var requests = [NearbyPlacesRequest(center: center), NearbyPlacesRequest(center: center)]
            requests += [["zoo"], []].map { NearbyPlacesRequest(center: center, categories: $0) }
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

    @Test("What only an index in memory finds is refused as such")
    func indexRequired() async throws {
        try await MigratedDatabase.empty().withStore { store, _ in
            let center = try Coordinate(latitude: 1, longitude: 1)
            var byRelevance = NearbyPlacesRequest(center: center, searchText: "a")
            byRelevance.sort = .relevance
            var byProperty = NearbyPlacesRequest(center: center)
            byProperty.filter.propertyFilters = [PropertyFilter("open", is: true)]
            var inBox = NearbyPlacesRequest(center: center)
            inBox.box = BoundingBox(west: 0, south: 0, east: 1, north: 1)
            for request in [
                NearbyPlacesRequest(center: center, searchText: "a"), byRelevance, byProperty, inBox,
            ] {
                #expect(await Self.failure(of: request, store) == .indexRequired)
            }
        }
    }

    @Test("Categories and attributions are counted anew once the data have changed")
    func counts() async throws {
        let database = try MigratedDatabase.empty()
        try await database.withStore { store, session in
            func parks() async throws -> (count: Int?, isRead: Bool) {
                let counts = try await store.categories().value()
                return (counts.items.first { $0.name == "park" }?.count, counts.datasetID != nil)
            }
            #expect(try await parks() == (0, true))
            #expect(try await store.attributions().value().items.isEmpty)
            let before = try await store.categories().value()
            #expect(try await store.categories().value() == before)
            try await session.run(
                """
                INSERT INTO locations (name, category, latitude, longitude, source_dataset, source_id, source_license)
                VALUES ('a', 'park', 1, 1, 'set', '1', 'CC0-1.0'), ('b', 'park', 1, 2, 'set', '2', 'ODbL-1.0')
                """)
            #expect(try await parks() == (2, true))
            let attributions = try await store.attributions().value().items
            #expect(attributions == [Attribution(dataset: "set", license: "CC0-1.0 AND ODbL-1.0", places: 2)])
        }
    }

    @Test("A cancelled request's slow statement is cancelled in the database")
    func cancelling() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        try await database.withStore { store, session in
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE locations")
            let bound = LoopBound(store, loop: store.pool.loop)
            let task = Task(executorPreference: store.pool.loop) {
                await Self.failure(of: Self.request, bound.value)
            }
            while try await !Self.hasWaitingQuery(session) {}
            task.cancel()
            #expect(await task.value == .cancelled)
            while try await Self.hasWaitingQuery(session) {}
            try await session.run("ROLLBACK")
            #expect(try await store.places(for: Self.request).places.count == 20)
        }
    }

    @Test("A request that waits for a table to be rewritten finds the places that it has then")
    func rewrittenTable() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        try await database.withStore { store, session in
            try await session.run("BEGIN")
            try await session.run("ALTER TABLE locations ADD COLUMN number serial")
            let bound = LoopBound(store, loop: store.pool.loop)
            let task = Task(executorPreference: store.pool.loop) {
                try await bound.value.places(for: Self.request).places.count
            }
            while try await !Self.hasWaitingQuery(session) {}
            try await session.run("COMMIT")
            #expect(try await task.value == 20)
        }
    }

    @Test(
        "A request whose time is up fails, whatever it waited for, and leaves nothing behind in the database")
    func requestTimeout() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        try await database.withStore(
            requestTimeout: .milliseconds(300), statementTimeout: .seconds(2)
        ) { store, session in
            // Connecting may take longer than that, which is another failure.
            await store.pool.waitUntilTried()
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE locations")
            // The second waits for the only connection, which the first has.
            let bound = LoopBound(store, loop: store.pool.loop)
            let requests = (0..<2).map { _ in
                Task(executorPreference: bound.loop) { await Self.failure(of: Self.request, bound.value) }
            }
            for task in requests {
                let failure = await task.value
                #expect(failure == .timeout(.query) || failure == .timeout(.connection))
            }
            while try await Self.hasWaitingQuery(session) {}
            try await session.run("ROLLBACK")
        }
    }

    private static let request = NearbyPlacesRequest(center: Coordinate(wrapping: 1, 1))

    /// Whether a query waits for a lock in the test's own database.
    private static func hasWaitingQuery(_ session: PostgresConnection) async throws -> Bool {
        // Within a transaction, the activity stays as it was when it was first read.
        try await session.run("SELECT pg_stat_clear_snapshot()")
        return try await session.value(
            """
            SELECT count(*) > 0 FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
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
