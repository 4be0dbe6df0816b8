import Foundation
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Testing

@testable import MockService

/// What the database's edit_place does, see `PostgresEditStoreTests`.
@Suite("Edits in memory")
struct MemoryEditStoreTests {
    private static let fixtures = #"""
        [{"id": 5, "name": "Test Cafe", "category": "cafe", "latitude": 1, "longitude": 2, "version": 7,
          "source": {"dataset": "cafes", "id": "c-5", "license": "CC0-1.0"}, "names": {"de": "Testcafé"},
          "properties": {"phone": "1", "seats": {"inside": 10, "outside": 4}}},
         {"id": 6, "name": "test cafe", "category": "cafe", "latitude": 1, "longitude": 2, "address": "1 Main St",
          "names": {"de": "Café", "fr": "Café-test"}, "other_names": ["Old Cafe", "TESTCAFÉ"],
          "properties": {"phone": "2", "url": "x"}},
         {"id": 9, "name": "Museum", "category": "museum", "latitude": 3, "longitude": 4, "featured": true,
          "operatingStatus": "temporarilyClosed", "importance": 10}]
        """#

    /// A store with these fixtures, and short ways to ask it.
    private struct Site {
        let store: MemoryEditStore

        init() throws {
            let fixtures = try Fixtures(json: Array(MemoryEditStoreTests.fixtures.utf8))
            store = MemoryEditStore(fixtures, servedBy: fixtures.index)
        }

        func record(_ id: Int64) async throws -> [String: JSONValue] {
            try JSONDecoder().decode(
                [String: JSONValue].self, from: Data(try await store.record(of: id).json))
        }

        @discardableResult
        func edit(
            _ action: PlaceEdit.Action, _ version: Int64? = nil, by editor: String = "Ada",
            key: String? = nil,
            digest: String = "d"
        ) async throws(EditError) -> EditOutcome {
            try await store.edit(
                PlaceEdit(
                    action, expectedVersions: version.map { [$0] }, editor: editor,
                    key: key.map { PlaceEdit.Key(text: $0, digest: digest) }))
        }

        @discardableResult
        func correct(_ id: Int64, _ body: String, _ version: Int64? = nil) async throws -> EditOutcome {
            try await edit(
                .correct(id, try PlaceChanges.decode(body: Array(body.utf8), isNew: false)), version)
        }

        func create(_ body: String) async throws -> EditOutcome {
            let changes = try PlaceChanges.decode(body: Array(body.utf8), isNew: true)
            return try await edit(.create(changes, dataset: "editorial", license: "CC0-1.0"))
        }

        func versions(_ id: Int64) async throws -> [JSONValue.Object] {
            try await store.versions(of: id, from: nil, count: 100).items.map {
                try JSONDecoder().decode(JSONValue.Object.self, from: Data($0))
            }
        }

        func error(_ edit: () async throws -> Void) async -> EditError? {
            await #expect(throws: EditError.self) { try await edit() }
        }
    }

    @Test("A record has all members, and what a fixture doesn't say is null or empty")
    func record() async throws {
        #expect(
            try await Site().record(9) == [
                "id": 9, "version": 0, "updatedAt": "1970-01-01T00:00:00Z", "name": "Museum",
                "category": "museum", "latitude": 3, "longitude": 4, "address": .null, "website": .null,
                "operatingStatus": "temporarilyClosed", "featured": true, "importance": 10, "names": [:],
                "otherNames": [], "properties": [:], "source": .null, "sourceValues": [:], "import": .null,
            ])
        let first = try await Site().record(5)
        #expect(first["source"] == ["dataset": "cafes", "id": "c-5", "license": "CC0-1.0"])
        #expect(first["properties"] == ["phone": "1", "seats": ["inside": 10, "outside": 4]])
        #expect(first["version"] == 7)
    }

    @Test("A correction lies above what the source says, until it is taken back")
    func corrections() async throws {
        let site = try Site()
        let outcome = try await site.correct(
            5,
            #"""
            {"name": "Café", "latitude": 1.5, "website": "https://a.example/", "names": {"de": null},
             "properties": {"phone": null, "seats": {"inside": null, "roof": 2}}, "category": "cafe", "featured": false}
            """#, 7)
        #expect(outcome.place?.version == 8)
        var record = try await site.record(5)
        #expect(record["name"] == "Café" && record["latitude"] == 1.5 && record["longitude"] == 2)
        #expect(record["names"] == [:])
        #expect(record["properties"] == ["seats": ["outside": 4, "roof": 2]])
        #expect(
            record["sourceValues"] == [
                "name": "Test Cafe", "latitude": 1, "longitude": 2, "website": .null, "names.de": "Testcafé",
                "properties.phone": "1", "properties.seats": ["inside": 10, "outside": 4],
            ])
        // What is changed again keeps what the source says.
        try await site.correct(5, #"{"name": "Coffee", "reset": ["properties", "website"]}"#)
        record = try await site.record(5)
        #expect(record["name"] == "Coffee" && record["website"] == .null)
        #expect(record["properties"] == ["phone": "1", "seats": ["inside": 10, "outside": 4]])
        #expect(
            record["sourceValues"] == [
                "name": "Test Cafe", "latitude": 1, "longitude": 2, "names.de": "Testcafé",
            ])
        try await site.correct(5, #"{"reset": ["*"]}"#)
        record = try await site.record(5)
        #expect(record["sourceValues"] == [:] && record["name"] == "Test Cafe" && record["version"] == 10)
    }

    @Test("A place without a source is changed, and one that stays as it is keeps its version")
    func plainChanges() async throws {
        let site = try Site()
        let same =
            #"{"name": "Museum", "featured": true, "importance": 10, "address": null, "properties": null, "latitude": 3}"#
        #expect(try await site.correct(9, same, 0).place?.version == 0)
        #expect(try await site.versions(9).isEmpty)
        try await site.correct(9, #"{"featured": null, "importance": null, "operatingStatus": null}"#)
        let record = try await site.record(9)
        #expect(
            record["featured"] == false && record["importance"] == 0 && record["operatingStatus"] == .null)
        #expect(record["sourceValues"] == [:] && record["updatedAt"] == "2026-12-01T00:00:02Z")
        // Nothing to take back is no fault.
        #expect(try await site.correct(9, #"{"reset": ["name", "*", "properties"]}"#).place?.version == 1)
    }

    @Test("A new place has the next id and a source of its own")
    func creation() async throws {
        let site = try Site()
        let made = try #require(
            try await site.create(
                #"{"name": "New", "category": "zoo", "latitude": 5, "longitude": 6, "otherNames": ["Newer"]}"#
            ).place)
        #expect(made.id == 10)
        let record = try await site.record(10)
        #expect(record["source"] == ["dataset": "editorial", "id": "10", "license": "CC0-1.0"])
        #expect(record["otherNames"] == ["Newer"] && record["featured"] == false && record["importance"] == 0)
        try await site.edit(.remove(10))
        // Ids are never given again.
        let next = try await site.create(#"{"name": "A", "category": "zoo", "latitude": 5, "longitude": 6}"#)
        #expect(next.place?.id == 11)
    }

    @Test("Another version than the expected one is stale, and what isn't there says why")
    func conflicts() async throws {
        let site = try Site()
        #expect(await site.error { try await site.correct(5, "{}", 6) } == .stale(version: 7))
        #expect(await site.error { try await site.edit(.remove(5), 6) } == .stale(version: 7))
        #expect(await site.error { try await site.edit(.merge(5, into: 6), 6) } == .stale(version: 7))
        #expect(await site.error { try await site.edit(.restore(5, version: 7), 6) } == .stale(version: 7))
        #expect(await site.error { try await site.correct(99, "{}") } == .notFound)
        #expect(await site.error { _ = try await site.versions(99) } == .notFound)
        try await site.edit(.remove(5), 7)
        for action in [PlaceEdit.Action.remove(5), .merge(5, into: 6)] {
            #expect(await site.error { try await site.edit(action, 7) } == .gone)
        }
        #expect(await site.error { _ = try await site.record(5) } == .gone)
        try await site.edit(.merge(6, into: 9))
        #expect(await site.error { _ = try await site.record(6) } == .merged(into: 9))
        #expect(await site.error { try await site.edit(.remove(6)) } == .merged(into: 9))
    }

    @Test("What only the database knows is wrong with an edit is a fault, and nothing is changed")
    func faults() async throws {
        let site = try Site()
        func fault(_ edit: () async throws -> Void) async throws -> String? {
            guard case .invalid(let faults) = await site.error(edit) else { return nil }
            #expect(faults.count == 1)
            return faults.first?.pointer
        }
        #expect(try await fault { try await site.correct(5, #"{"category": "nowhere"}"#) } == "/category")
        let large = #"{"properties": {"a": "\#(String(repeating: "a", count: 4060))"}}"#
        #expect(try await fault { try await site.correct(5, large) } == "/properties")
        // Without other properties it has room.
        try await site.correct(9, large)
        #expect(
            try await fault { try await site.correct(5, #"{"properties": {"a": {"b": {"c": {}}}}}"#) }
                == "/properties")
        let long = (0..<40).map { #""\#($0)\#(String(repeating: "n", count: 190))""# }.joined(separator: ",")
        try await site.correct(9, #"{"otherNames": [\#(long)]}"#)
        let names = ["de", "fr", "it"].map { #""\#($0)": "\#(String(repeating: "n", count: 200))""# }
        #expect(
            try await fault { try await site.correct(9, #"{"names": {\#(names.joined(separator: ","))}}"#) }
                == "/names")
        #expect(try await fault { try await site.correct(5, #"{"names": {"DE": "A"}}"#) } == "/names")
        #expect(try await fault { try await site.edit(.restore(5, version: 1)) } == "/version")
        #expect(try await fault { try await site.edit(.merge(5, into: 5)) } == "/into")
        #expect(try await fault { try await site.edit(.merge(5, into: 99)) } == "/into")
        #expect(try await site.record(5)["version"] == 7)
        #expect(try await site.versions(5).isEmpty)
    }

    @Test("A place becomes what it was in a version, and a removed one comes back with its id")
    func restoring() async throws {
        let site = try Site()
        try await site.correct(5, #"{"name": "A", "properties": {"phone": "9"}}"#)
        try await site.correct(5, #"{"address": "B", "reset": ["properties"]}"#)
        // 8 is the version in which the name and the phone were corrected.
        #expect(try await site.edit(.restore(5, version: 8), 9).place?.version == 10)
        var record = try await site.record(5)
        #expect(record["name"] == "A" && record["address"] == .null)
        #expect(record["sourceValues"] == ["name": "Test Cafe", "properties.phone": "1"])
        // The version that it has is no change.
        #expect(try await site.edit(.restore(5, version: 10)).place?.version == 10)

        try await site.edit(.remove(5))
        #expect(await site.error { try await site.edit(.restore(5, version: 7), 9) } == .stale(version: 10))
        #expect(try await site.edit(.restore(5, version: 7), 10).place?.version == 11)
        record = try await site.record(5)
        #expect(record["name"] == "Test Cafe" && record["sourceValues"] == [:])
        #expect(await site.error { try await site.edit(.restore(99, version: 0)) } == .notFound)
    }

    @Test("A merged place gives the other one what it lacks, and its name to be found by")
    func merging() async throws {
        let site = try Site()
        let outcome = try await site.edit(.merge(6, into: 5), 0)
        #expect(outcome.place?.id == 5 && outcome.place?.version == 8)
        let record = try await site.record(5)
        #expect(record["address"] == "1 Main St" && record["name"] == "Test Cafe")
        #expect(record["names"] == ["de": "Testcafé", "fr": "Café-test"])
        // The name is the same but for case, and so is one of the others.
        #expect(record["otherNames"] == ["Old Cafe"])
        #expect(record["properties"] == ["phone": "1", "seats": ["inside": 10, "outside": 4], "url": "x"])
        #expect(
            record["sourceValues"]
                == ["address": .null, "names.fr": .null, "otherNames": .null, "properties.url": .null])
        // A merge of the survivor leads on, and a restored place is there by itself.
        try await site.edit(.merge(5, into: 9))
        #expect(await site.error { _ = try await site.record(6) } == .merged(into: 9))
        try await site.edit(.restore(6, version: 0), 0)
        #expect(try await site.record(6)["name"] == "test cafe")
        #expect(await site.error { _ = try await site.record(5) } == .merged(into: 9))
    }

    @Test("The versions say who changed what, the newest first, page by page")
    func history() async throws {
        let site = try Site()
        try await site.correct(5, #"{"name": "A", "longitude": 3}"#)
        try await site.correct(5, #"{"operatingStatus": "permanentlyClosed", "otherNames": ["B"]}"#)
        try await site.edit(.remove(5), by: "Bob")
        let versions = try await site.versions(5)
        #expect(versions.map { $0["version"] } == [9, 8, 7])
        #expect(versions.map { $0["who"] } == ["Bob (poi_edit)", "Ada (poi_edit)", "Ada (poi_edit)"])
        #expect(versions.map { $0["isRemoval"] } == [true, false, false])
        #expect(versions.map { $0["changedAt"] } == [3, 2, 1].map { .string("2026-12-01T00:00:0\($0)Z") })
        #expect(versions[0]["changes"] == [:])
        #expect(
            versions[1]["changes"] == [
                "operatingStatus": ["after": "permanentlyClosed"], "otherNames": ["after": ["B"]],
            ])
        #expect(
            versions[2]["changes"] == [
                "name": ["before": "Test Cafe", "after": "A"], "source of name": ["after": "Test Cafe"],
                "longitude": ["before": 2, "after": 3], "source of latitude": ["after": 1],
                "source of longitude": ["after": 2],
            ])
        let first = try await site.store.versions(of: 5, from: nil, count: 2)
        let second = try await site.store.versions(of: 5, from: first.next, count: 2)
        #expect(first.items.count == 2 && second.items.count == 1 && second.next == nil)
        #expect(
            try await site.store.versions(of: 9, from: nil, count: 2) == VersionsPage(items: [], next: nil))
    }

    @Test("The changes of all places are those in a box before or now, the newest first, page by page")
    func changes() async throws {
        let site = try Site()
        try await site.correct(5, #"{"latitude": 50}"#)
        try await site.edit(.merge(6, into: 9), by: "Bob")
        func changes(
            _ edges: (west: Double, south: Double, east: Double, north: Double)? = nil
        ) async throws -> [JSONValue.Object] {
            let box = edges.flatMap {
                BoundingBox(west: $0.west, south: $0.south, east: $0.east, north: $0.north)
            }
            return try await site.store.changes(in: box, from: nil, count: 100).items.map {
                try JSONDecoder().decode(JSONValue.Object.self, from: Data($0))
            }
        }
        let all = try await changes()
        #expect(all.map { $0["id"] } == [6, 9, 5])
        #expect(all.map { $0["isRemoval"] } == [true, false, false])
        #expect(all[2]["latitude"] == 50 && all[2]["longitude"] == 2 && all[2]["name"] == "Test Cafe")
        #expect(all[0]["latitude"] == 1 && all[0]["name"] == "test cafe")
        #expect(all[2]["changes"] == (try await site.versions(5))[0]["changes"])
        // Where it was, and where it is now.
        #expect(try await changes((1, 0, 3, 2)).map { $0["id"] } == [6, 5])
        #expect(try await changes((2, 50, -179, 51)).map { $0["id"] } == [5])
        #expect(try await changes((3, 50, -179, 51)).isEmpty)
        let first = try await site.store.changes(in: nil, from: nil, count: 1)
        let rest = try await site.store.changes(in: nil, from: first.next, count: 2)
        #expect(first.items.count == 1 && rest.items.count == 2 && rest.next == nil)
    }

    @Test("An edit with a key is done once, and the key is that request's and that editor's alone")
    func keys() async throws {
        let site = try Site()
        let first = try await site.edit(.remove(5), 7, key: "k")
        #expect(try await site.edit(.remove(5), 7, key: "k") == first)
        #expect(await site.error { try await site.edit(.remove(5), 7, key: "k", digest: "e") } == .keyReused)
        #expect(await site.error { try await site.edit(.remove(5), 7, by: "Bob", key: "k") } == .gone)
        #expect(try await site.versions(5).count == 1)
        // What fails has no result, and may be tried again.
        #expect(await site.error { try await site.edit(.remove(9), 1, key: "l") } == .stale(version: 0))
        try await site.edit(.remove(9), 0, key: "l")
    }
}
