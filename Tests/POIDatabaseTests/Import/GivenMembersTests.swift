import Foundation
import PlaceImport
import PrivateCluster
import Testing

@testable import POIDatabase

/// What an import leaves as it is, because the file says nothing of it.
@Suite("What a file says nothing of", .timeLimit(.minutes(5)))
struct GivenMembersTests {
    private static let whole = """
        id,name,category,lat,lon,featured,address,website,importance,name:de,name:fr,other_names,phone,hours
        1,A,shop,1,2,yes,Street 1,https://a.example,7,Ä,À,Alt,123,9-5

        """
    private static let all =
        "t|Street 1|https://a.example|7|{Alt}|{\"de\": \"Ä\", \"fr\": \"À\"}|{\"hours\": \"9-5\", \"phone\": \"123\"}"
    private static let stored = """
        SELECT concat_ws('|', featured, coalesce(address, '-'), coalesce(website, '-'), importance, \
        coalesce(other_names::text, '-'), coalesce(names::text, '-'), coalesce(properties::text, '-')) FROM locations WHERE source_id = '1'
        """

    /// The place after one file and then another.
    private static func place(
        after text: String, as name: String, _ change: @escaping (inout ImportSource) -> Void = { _ in }
    ) async throws -> (place: String, isChanged: Bool) {
        let database = try MigratedDatabase.empty()
        _ = try await importText(whole, "whole.csv", database) { $0.properties = ["phone", "hours"] }
        #expect(try database.execute(stored) == all)
        let report = try await importText(text, name, database, change)
        #expect(report.rejected == [:])
        // What it made is what it says: the same again changes nothing.
        #expect(try await importText(text, name, database, change).counts == [0, 0, report.read, 0])
        return (try database.execute(stored), report.changed == 1)
    }

    private static func importText(
        _ text: String, _ name: String, _ database: TestDatabase,
        _ change: @escaping (inout ImportSource) -> Void
    ) async throws -> ImportReport {
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID())-\(name)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try await database.importFile(file.path) { source, _ in
            source.columns = [:]
            change(&source)
        }
    }

    @Test("A column that a table doesn't have changes nothing, and one that is empty empties")
    func tables() async throws {
        let plain = try await Self.place(after: "id,name,category,lat,lon\n1,A,shop,1,2\n", as: "a.csv")
        #expect(plain.place == Self.all && !plain.isChanged)
        let renamed = try await Self.place(after: "id,name,category,lat,lon\n1,B,shop,1,2\n", as: "a.csv")
        #expect(renamed.place == Self.all && renamed.isChanged)
        let header = "id,name,category,lat,lon,address,name:de,phone\n"
        let emptied = try await Self.place(after: header + "1,A,shop,1,2,,,\n", as: "a.csv") {
            $0.properties = ["phone", "opened"]
        }
        #expect(
            emptied.place
                == #"t|-|https://a.example|7|{Alt}|{"fr": "À"}|{"hours": "9-5"}"#)
        let added = try await Self.place(
            after: "id,name,category,lat,lon,featured,importance,website,other_names,name:it,phone\n"
                + "1,A,shop,1,2,,,,,Â,456\n", as: "a.csv"
        ) { $0.properties = ["phone"] }
        #expect(
            added.place
                == #"f|Street 1|-|0|-|{"de": "Ä", "fr": "À", "it": "Â"}|{"hours": "9-5", "phone": "456"}"#)
    }

    @Test("A mapping names what a table need not have")
    func mappedTables() async throws {
        let place = try await Self.place(after: "id,name,category,lat,lon\n1,A,shop,1,2\n", as: "a.csv") {
            $0.columns = [.address: "strasse"]
            $0.fixedTexts = [.website: "https://b.example"]
        }
        #expect(place.place == Self.all.replacing("a.example", with: "b.example"))
    }

    @Test("A member that an object leaves out changes nothing; null and an empty text empty it")
    func objects() async throws {
        let beginning = #"[{"id": 1, "name": "A", "category": "shop", "lat": 1, "lon": 2"#
        let plain = try await Self.place(after: beginning + "}]", as: "a.json")
        #expect(plain.place == Self.all && !plain.isChanged)
        let emptied = try await Self.place(
            after: beginning + #", "address": null, "website": "", "name:de": null, "other_names": null}]"#,
            as: "a.json")
        #expect(
            emptied.place == #"t|-|-|7|-|{"fr": "À"}|{"hours": "9-5", "phone": "123"}"#)
        let whole = try await Self.place(
            after: beginning + #", "names": {"it": "Â"}, "properties": {"phone": "456"}}]"#, as: "a.json")
        #expect(
            whole.place == #"t|Street 1|https://a.example|7|{Alt}|{"it": "Â"}|{"phone": "456"}"#)
        let none = try await Self.place(
            after: beginning + #", "names": null, "properties": null}]"#, as: "a.json")
        #expect(none.place == "t|Street 1|https://a.example|7|{Alt}|-|-")
    }

    @Test("Of objects, what options and mappings name is empty where one leaves it out, unless all do")
    func mappedObjects() async throws {
        let alone = #"[{"id": 1, "name": "A", "category": "shop", "lat": 1, "lon": 2}"#
        let kept = try await Self.place(after: alone + "]", as: "a.json") {
            $0.columns = [.address: "street"]
            $0.properties = ["phone"]
        }
        #expect(kept.place == Self.all && !kept.isChanged)
        let text =
            alone
            + #", {"id": 2, "name": "B", "category": "shop", "lat": 1, "lon": 2, "street": "x", "phone": "x", "web": "x", "names": {"de": "x"}, "more": {"a": 1}}]"#
        let named = try await Self.place(after: text, as: "a.json") {
            $0.columns = [.address: "street"]
            $0.properties = ["phone"]
        }
        #expect(
            named.place
                == #"t|-|https://a.example|7|{Alt}|{"de": "Ä", "fr": "À"}|{"hours": "9-5"}"#)
        let mapping = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: mapping) }
        try Data(
            #"""
            {"id": ["{id}"], "name": ["{name}"], "category": ["{category}"], "latitude": ["{lat}"], "longitude": ["{lon}"],
             "website": ["{web}", "{url}"], "names": "names", "properties": "more"}
            """#.utf8
        ).write(to: mapping)
        let mapped = try await Self.place(after: text, as: "a.json") { $0.mapping = mapping.path }
        #expect(mapped.place == "t|Street 1|-|7|{Alt}|-|-")
    }

    @Test("What is to be cleared is empty, whatever the file has")
    func cleared() async throws {
        let some = try await Self.place(
            after: "id,name,category,lat,lon,address\n1,A,shop,1,2,Street 2\n", as: "a.csv"
        ) { $0.cleared = [.field(.address), .field(.otherNames), .property("phone")] }
        #expect(
            some.place
                == #"t|-|https://a.example|7|-|{"de": "Ä", "fr": "À"}|{"hours": "9-5"}"#)
        let all = try await Self.place(after: Self.whole, as: "a.csv") {
            $0.cleared = [
                .field(.featured), .field(.website), .field(.importance), .field(.names), .properties,
            ]
        }
        #expect(all.place == "f|Street 1|-|0|{Alt}|-|-")
    }

    @Test("What would be too much together with what is kept is left out, and counted")
    func tooMuch() async throws {
        let database = try MigratedDatabase.empty()
        func text(_ property: String, _ tag: String, _ names: String) -> String {
            "id,name,category,lat,lon,\(property),name:\(tag),other_names\n"
                + "1,A,shop,1,2,\(String(repeating: "x", count: 3000)),N,\(names)\n"
        }
        let many = (0..<200).map { "O\($0)" }.joined(separator: ";")
        for (property, tag, dropped) in [("p", "de", false), ("q", "fr", true)] {
            let report = try await Self.importText(text(property, tag, many), "a.csv", database) {
                $0.properties = [property]
            }
            #expect((report.normalised[.propertiesDropped] == 1) == dropped)
        }
        #expect(
            try database.execute(
                "SELECT names::text || length(properties ->> 'p') || (properties ->> 'q' IS NULL) FROM locations"
            )
                == #"{"de": "N", "fr": "N"}3000true"#)
        let tags = (0..<150).map { "name:en-\($0)" }
        let report = try await Self.importText(
            "id,name,category,lat,lon,\(tags.joined(separator: ","))\n1,A,shop,1,2,\(tags.map { _ in "E" }.joined(separator: ","))\n",
            "a.csv", database
        ) { _ in }
        #expect(report.normalised[.namesDropped] == 1)
        #expect(try database.execute("SELECT names::text FROM locations") == #"{"de": "N", "fr": "N"}"#)
    }
}
