import EventLoop
import Foundation
import Loopback
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import PrivateCluster
import Testing

@testable import POIDatabase
@testable import Program

@Suite("Editing in PostgreSQL", .timeLimit(.minutes(5)))
struct EditStoreTests {
    private let database: TestDatabase

    init() throws {
        database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO categories (name) VALUES ('cafe'), ('bar') ON CONFLICT DO NOTHING;
            INSERT INTO locations (name, category, latitude, longitude, address, names, properties, source_dataset, source_id,
                source_license)
            VALUES ('A', 'cafe', 1, 2, 'Street 1', '{"de": "Ah"}', '{"phone": "1", "hours": {"mo": "9-5", "tu": "9-5"}}',
                    'cafes', 'a', 'CC0-1.0'),
                ('B', 'cafe', 3, 4, NULL, NULL, NULL, NULL, NULL, NULL)
            """)
    }

    private func patch(_ json: String) throws -> PlaceChanges {
        try PlaceChanges.decode(body: Array(json.utf8), isNew: false)
    }

    private func columns(_ id: Int, _ columns: String) throws -> String {
        try database.execute("SELECT \(columns) FROM locations WHERE id = \(id)")
    }

    @Test("A patch corrects what it changes, merges nested properties, and leaves what is as it was")
    func patches() async throws {
        let changes = try patch(
            """
            {"name": "A", "address": "Street 2", "longitude": 2.5, "names": {"fr": "Ah bon"},
             "properties": {"hours": {"mo": null, "we": "8"}, "phone": "1"}}
            """)
        let (before, outcome) = try await database.withEditStore { store in
            (try await store.record(of: 1), try await store.edit(.as("anna", .correct(1, changes))))
        }
        let place = try #require(outcome.place)
        #expect(place.version != before.version && place.id == 1)
        #expect(
            try columns(1, "name, address, latitude, longitude, names, properties")
                == #"A|Street 2|1|2.5|{"de": "Ah", "fr": "Ah bon"}|"#
                + #"{"hours": {"tu": "9-5", "we": "8"}, "phone": "1"}"#)
        let json = try JSONDecoder().decode(JSONValue.Object.self, from: Data(place.json))
        #expect(
            json["sourceValues"] == [
                "address": "Street 1", "latitude": 1, "longitude": 2, "names.fr": .null,
                "properties.hours": ["mo": "9-5", "tu": "9-5"],
            ])
        #expect(json["version"]?.wholeNumber == Int(place.version))
        // Nothing else: what is as it was isn't corrected, and the same again is no change.
        let again = try await database.withEditStore { store in
            try await store.edit(.as("anna", .correct(1, changes))).place
        }
        #expect(again == place)
    }

    @Test("Null takes away, of names and properties all; a reset shows the source's")
    func takesAway() async throws {
        let removal = try patch(#"{"names": null, "properties": null, "address": null, "importance": null}"#)
        let reset = try patch(#"{"reset": ["names", "address", "featured", "longitude"]}"#)
        try await database.withEditStore { store in
            _ = try await store.edit(.as("anna", .correct(1, removal)))
        }
        #expect(try columns(1, "names, properties, address") == "||")
        try await database.withEditStore { store in _ = try await store.edit(.as("anna", .correct(1, reset)))
        }
        #expect(try columns(1, "names, properties, address") == #"{"de": "Ah"}||Street 1"#)
    }

    @Test("One of two editors of a version wins, and the other one learns the version that there is")
    func conflict() async throws {
        let (one, two) = (try patch(#"{"name": "One"}"#), try patch(#"{"name": "Two"}"#))
        try await database.withEditStore { store in
            let seen = try await store.record(of: 1).version
            let place = try await store.edit(.as("anna", .correct(1, one), seen)).place
            await #expect(throws: EditError.stale(version: place?.version)) {
                try await store.edit(.as("bob", .correct(1, two), seen))
            }
        }
        #expect(try columns(1, "name") == "One")
    }

    @Test("A request that is sent again with its key is done once, and has the first one's response")
    func keys() async throws {
        let new = try PlaceChanges.decode(
            body: Array(#"{"name": "New", "category": "bar", "latitude": 1, "longitude": 1}"#.utf8),
            isNew: true)
        let key = PlaceEdit.Key(text: "k", digest: "d1")
        try await database.withEditStore { store in
            let create = PlaceEdit.Action.create(new, dataset: "editorial", license: "CC0-1.0")
            let first = try await store.edit(.as("anna", create, key: key))
            let again = try await store.edit(.as("anna", create, key: key))
            #expect(first.place == again.place && first.place != nil)
            await #expect(throws: EditError.keyReused) {
                try await store.edit(.as("anna", create, key: PlaceEdit.Key(text: "k", digest: "d2")))
            }
            // Another editor's key is another one, and so is one of yesterday.
            #expect(try await store.edit(.as("bob", create, key: key)).place != first.place)
            let removal = PlaceEdit.as("anna", .remove(2), key: PlaceEdit.Key(text: "r", digest: "d"))
            #expect(try await store.edit(removal).place == nil)
            #expect(try await store.edit(removal).place == nil)
        }
        try database.execute("UPDATE edit_requests SET made_at = now() - interval '25 hours'")
        try await database.withEditStore { store in
            let create = PlaceEdit.Action.create(new, dataset: "editorial", license: "CC0-1.0")
            _ = try await store.edit(.as("anna", create, key: PlaceEdit.Key(text: "k", digest: "d2")))
        }
        #expect(try database.execute("SELECT count(*) FROM edit_requests") == "1")
        #expect(try database.execute("SELECT count(*) FROM locations WHERE name = 'New'") == "3")
        // What a place was is forgotten here, too.
        let id = try #require(Int64(database.execute("SELECT place_id FROM edit_requests")))
        let history = PlaceHistory(try database.configuration())
        _ = try await offPool { try history.forget(id) }
        #expect(try database.execute("SELECT count(*) FROM edit_requests") == "0")
    }

    @Test("An edit that failed isn't remembered by its key")
    func failedEdit() async throws {
        let key = PlaceEdit.Key(text: "k", digest: "d")
        let changes = try patch(#"{"category": "nowhere"}"#)
        try await database.withEditStore { store in
            for _ in 0..<2 {
                let error = await #expect(throws: EditError.self) {
                    try await store.edit(.as("anna", .correct(1, changes), key: key))
                }
                guard case .invalid(let faults) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(faults.map(\.pointer) == ["/category"])
            }
        }
        #expect(try database.execute("SELECT count(*) FROM edit_requests") == "0")
    }

    @Test("Removed, merged and unknown places can't be edited; a removed one is restored by one of two")
    func removedPlaces() async throws {
        let changes = try patch(#"{"name": "C"}"#)
        try await database.withEditStore { store in
            await #expect(throws: EditError.notFound) { try await store.record(of: 99) }
            await #expect(throws: EditError.notFound) {
                try await store.versions(of: 99, from: nil, count: 5)
            }
            let merged = try await store.edit(.as("anna", .merge(2, into: 1))).place
            #expect(merged?.id == 1)
            await #expect(throws: EditError.merged(into: 1)) { try await store.record(of: 2) }
            await #expect(throws: EditError.merged(into: 1)) {
                try await store.edit(.as("anna", .correct(2, changes)))
            }
            let seen = try await store.record(of: 1).version
            #expect(try await store.edit(.as("anna", .remove(1), seen)).place == nil)
            await #expect(throws: EditError.gone) { try await store.record(of: 1) }
            await #expect(throws: EditError.gone) { try await store.edit(.as("anna", .remove(1))) }
            await #expect(throws: EditError.stale(version: seen)) {
                try await store.edit(.as("anna", .restore(1, version: seen), 5))
            }
            let restored = try await store.edit(.as("anna", .restore(1, version: seen), seen)).place
            #expect(restored?.id == 1)
            await #expect(throws: EditError.stale(version: restored?.version)) {
                try await store.edit(.as("bob", .restore(1, version: seen), seen))
            }
            for action in [PlaceEdit.Action.merge(1, into: 1), .merge(1, into: 99), .merge(1, into: 2)] {
                let error = await #expect(throws: EditError.self) {
                    try await store.edit(.as("anna", action))
                }
                #expect(error?.pointers == ["/into"])
            }
            let error = await #expect(throws: EditError.self) {
                try await store.edit(.as("anna", .restore(1, version: 7)))
            }
            #expect(error?.pointers == ["/version"])
        }
    }

    @Test("Versions come newest first, a page at a time, by the members' names of the API")
    func versions() async throws {
        let patches = try [#"{"name": "1"}"#, #"{"operatingStatus": "permanentlyClosed", "latitude": 5}"#]
            .map(patch)
        try await database.withEditStore { store in
            for changes in patches { _ = try await store.edit(.as("anna", .correct(1, changes))) }
            _ = try await store.edit(.as("bob", .remove(1)))
            let first = try await store.versions(of: 1, from: nil, count: 2)
            #expect(first.items.count == 2)
            let rest = try await store.versions(of: 1, from: first.next, count: 2)
            #expect(rest.items.count == 1 && rest.next == nil)
            let all = try (first.items + rest.items).map { json in
                try JSONDecoder().decode(JSONValue.Object.self, from: Data(json))
            }
            #expect(all.map { $0["isRemoval"]?.flag } == [true, false, false])
            #expect(all.map { $0["who"]?.text?.prefix { $0 != " " } } == ["bob", "anna", "anna"])
            #expect(
                all[1]["changes"] == [
                    "latitude": ["before": 1, "after": 5], "operatingStatus": ["after": "permanentlyClosed"],
                    "source of latitude": ["after": 1], "source of longitude": ["after": 2],
                ])
        }
    }

    private func changes(
        in box: BoundingBox? = nil, from position: Int64? = nil, count: Int = 100
    ) async throws -> (items: [JSONValue.Object], next: Int64?) {
        let page = try await database.withEditStore { store in
            try await store.changes(in: box, from: position, count: count)
        }
        return (
            try page.items.map { try JSONDecoder().decode(JSONValue.Object.self, from: Data($0)) }, page.next
        )
    }

    @Test("The changes of all places are people's, the newest first, with the places as they are now")
    func recentChanges() async throws {
        let patches = try [#"{"name": "1"}"#, #"{"longitude": 5}"#].map(patch)
        try await database.withEditStore { store in
            for changes in patches { _ = try await store.edit(.as("anna", .correct(1, changes))) }
        }
        try database.execute(
            """
            UPDATE locations SET name = 'By hand' WHERE id = 2;
            BEGIN; SET LOCAL poi.import_run = '7'; UPDATE locations SET address = 'Imported'; COMMIT
            """)
        try await database.withEditStore { store in _ = try await store.edit(.as("bob", .remove(2))) }
        let (items, next) = try await changes()
        #expect(next == nil)
        #expect(items.map { $0["id"] } == [2, 2, 1, 1])
        #expect(items.map { $0["isRemoval"]?.flag } == [true, false, false, false])
        #expect(items.map { $0["name"] } == ["By hand", "B", "1", "1"])
        #expect(items.map { $0["latitude"] } == [3, 3, 1, 1])
        #expect(items.map { $0["longitude"] } == [4, 4, 5, 5])
        #expect(items[1]["changes"] == ["name": ["before": "B", "after": "By hand"]])
        // As its own versions say it, of which an import has made one more.
        let versions = try await database.withEditStore { store in
            try await store.versions(of: 1, from: nil, count: 100).items.map {
                try JSONDecoder().decode([String: JSONValue].self, from: Data($0))
            }
        }
        #expect(versions.count == 3)
        let placeMembers = ["id", "name", "latitude", "longitude"]
        let ofPlace = items[2...].map { $0.valuesByName.filter { !placeMembers.contains($0.key) } }
        #expect(ofPlace == Array(versions.dropFirst()))
    }

    @Test("A change is in a box where the place was before it or is now, a page at a time")
    func changesInBoxes() async throws {
        let moved = try patch(#"{"latitude": 10, "longitude": -179}"#)
        let named = try patch(#"{"name": "C"}"#)
        try await database.withEditStore { store in
            _ = try await store.edit(.as("anna", .correct(1, moved)))
            _ = try await store.edit(.as("anna", .correct(2, named)))
            _ = try await store.edit(.as("anna", .correct(1, named)))
        }
        func ids(
            _ west: Double, _ south: Double, _ east: Double, _ north: Double
        ) async throws -> [JSONValue?] {
            let box = try #require(BoundingBox(west: west, south: south, east: east, north: north))
            return try await changes(in: box).items.map { $0["id"] }
        }
        #expect(try await ids(2, 1, 2, 1) == [1])
        #expect(try await ids(170, 9, -170, 11) == [1, 1])
        #expect(try await ids(-170, 9, 170, 11) == [])
        #expect(try await ids(0, 0, 5, 5) == [2, 1])
        let first = try await changes(count: 2)
        let second = try await changes(from: first.next, count: 2)
        #expect((first.items + second.items).map { $0["id"] } == [1, 2, 1] && second.next == nil)
        // One page that is just full is the only one.
        #expect(try await changes(count: 3).next == nil)
    }

    @Test("The database's boxes hold what the contract's do")
    func boxes() throws {
        let numbers = [-180, -179.5, -10, 0, 10, 179.5, 180].map { Double($0) }
        var positions: [(latitude: Double, longitude: Double)] = []
        for latitude in [-90, -10, 0, 10, 90.0] {
            positions += numbers.map { (latitude, $0) }
        }
        let (latitudes, longitudes) = (positions.map(\.latitude), positions.map(\.longitude))
        var (boxes, queries) = ([BoundingBox](), [String]())
        for west in numbers {
            for east in numbers {
                for (south, north) in [(-90.0, -10.0), (-10, 10), (0, 90)] {
                    let box = BoundingBox(west: west, south: south, east: east, north: north)
                    boxes.append(try #require(box))
                    queries.append(
                        """
                        SELECT string_agg(is_in_box(latitude, longitude, \(west), \(south), \(east), \(north))::int::text, '' \
                        ORDER BY number) FROM unnest(ARRAY\(latitudes), ARRAY\(longitudes)) \
                        WITH ORDINALITY AS place (latitude, longitude, number)
                        """)
                }
            }
        }
        let found = try database.execute(queries.joined(separator: ";\n")).split(separator: "\n")
        #expect(
            found.map { String($0) }
                == boxes.map { box in
                    positions.map { position in
                        box.contains(latitude: position.latitude, longitude: position.longitude) ? "1" : "0"
                    }.joined()
                })
    }

    @Test("A page looks at so many changes only, and leads on from there")
    func boundedChanges() async throws {
        let named = try patch(#"{"name": "C"}"#)
        try await database.withEditStore { store in
            _ = try await store.edit(.as("anna", .correct(1, named)))
        }
        try database.execute(
            """
            INSERT INTO location_versions (change, changed_at, operation, by_role, id, name, category, latitude, longitude,
                featured, importance, version, updated_at)
            SELECT 1, now(), 'update', 'r', 2, 'B', 'cafe', 3, 4, false, 0, number, now() FROM generate_series(1, 10000) AS number
            """)
        let box = try #require(BoundingBox(west: 1, south: 0, east: 3, north: 2))
        let first = try await changes(in: box)
        #expect(first.items.isEmpty)
        #expect(first.next != nil)
        let rest = try await changes(in: box, from: first.next)
        #expect(rest.items.map { $0["id"] } == [1] && rest.next == nil)
        let newest = try await changes()
        #expect(newest.items.map { $0["version"]?.wholeNumber } == Array((9901...10000).reversed()))
    }

    @Test("Properties and names that are too many together with the place's are refused by name")
    func tooMuch() async throws {
        let large = String(repeating: "x", count: 3000)
        let (one, two) = (
            try patch(#"{"properties": {"a": "\#(large)"}}"#),
            try patch(#"{"properties": {"b": "\#(large)"}}"#)
        )
        try await database.withEditStore { store in
            _ = try await store.edit(.as("anna", .correct(1, one)))
            let error = await #expect(throws: EditError.self) {
                try await store.edit(.as("anna", .correct(1, two)))
            }
            #expect(error?.pointers == ["/properties"])
        }
    }

    @Test("Members that nobody edits may be sent as they are, not as others")
    func readOnlyMembers() async throws {
        let seen = try await database.withEditStore { try await $0.record(of: 1) }
        let record = try JSONDecoder().decode(JSONValue.Object.self, from: Data(seen.json))
        var changed = record
        changed.append([("name", "C")])
        var wrong = record
        wrong.append([("id", 2), ("source", ["dataset": "cafes", "id": "a", "license": "x"])])
        let (whole, other) = (try patch(changed.text), try patch(wrong.text))
        try await database.withEditStore { store in
            _ = try await store.edit(.as("anna", .correct(1, whole), seen.version))
            let error = await #expect(throws: EditError.self) {
                try await store.edit(.as("anna", .correct(1, other)))
            }
            let pointers = error?.pointers?.filter { $0 != "/updatedAt" }.sorted()
            #expect(pointers == ["/id", "/source", "/sourceValues", "/version"])
        }
        #expect(try columns(1, "name, source_values") == #"C|{"name": "A"}"#)
    }

    @Test("An edit says the revision that has it")
    func revisions() async throws {
        let changes = try patch(#"{"name": "C"}"#)
        let outcome = try await database.withEditStore { store in
            try await store.edit(.as("anna", .correct(1, changes)))
        }
        #expect(
            try database.execute("SELECT max(revision) FROM dataset_log") == outcome.revision.map(String.init)
        )
    }
}

extension PlaceEdit {
    fileprivate static func `as`(
        _ editor: String, _ action: Action, _ version: Int64? = nil, key: Key? = nil
    ) -> PlaceEdit {
        PlaceEdit(action, expectedVersions: version.map { [$0] }, editor: editor, key: key)
    }
}

extension JSONValue.Object {
    fileprivate var text: String { String(decoding: json, as: UTF8.self) }
}

extension EditError {
    fileprivate var pointers: [String]? {
        if case .invalid(let faults) = self { faults.map(\.pointer) } else { nil }
    }
}

extension TestDatabase {
    /// Runs `body` with a store of its own, on a loop.
    fileprivate func withEditStore<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresEditStore) async throws -> Value
    ) async throws -> Value {
        var reader = SettingsReader(flags: [:], environment: [:])
        let configuration = try EditDatabaseConfiguration(from: &reader, database: configuration())
        return try await onLoop { [configuration] loop in
            let store = PostgresEditStore(configuration: configuration, loop: loop)
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(store))
            } catch {
                result = .failure(error)
            }
            await store.close()
            return try result.get()
        }
    }
}
