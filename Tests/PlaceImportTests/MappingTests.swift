import Foundation
import PlaceImport
import Testing

@Suite("Mappings")
struct MappingTests {
    private func read(_ text: String, mapping: String, as name: String = "a.csv") throws -> ReadResult {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        try Data(mapping.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try PlaceImportTests.read(text, as: name) { $0.mapping = file.path }
    }

    @Test("A mapping joins fields, chooses texts by conditions, and may give a fixed text")
    func own() throws {
        let mapping = """
            {"id": ["{key}"], "name": ["{title} ({city})", "{title}"], "latitude": ["{n}"], "longitude": ["{e}"],
             "category": [{"when": {"kind": ["eat*", "drink"], "stars": "*"}, "then": "restaurant"}, "shop"],
             "featured": [{"when": {"stars": "5"}, "then": "yes"}]}
            """
        let result = try read(
            """
            key,title,city,n,e,kind,stars
            1,A,B,1,2,eating,5
            2,C,,1,2,drink,1
            3,D,,1,2,drink,
            4,E,,1,2,cooking,5
            """, mapping: mapping)
        #expect(result.places.map(\.name) == ["A (B)", "C", "D", "E"])
        #expect(result.places.map(\.category) == ["restaurant", "restaurant", "shop", "shop"])
        #expect(result.places.map(\.featured) == [true, false, false, true])
    }

    @Test("A row that fulfils no condition of the category isn't selected")
    func conditional() throws {
        let result = try PlaceImportTests.read(
            """
            1\tÅ "x\t\t\t1\t2\tP\tPPLC\t\t\t\t\t\t\t\t\t\t\t
            2\tB\t\t\t1\t2\tH\tSTM\t\t\t\t\t\t\t\t\t\t\t
            3\t\t\t\t1\t2\tS\tMUS\t\t\t\t\t\t\t\t\t\t\t

            """, as: "XY.txt"
        ) { $0.mapping = "geonames" }
        let town = ImportedPlace(
            sourceID: "1", name: "Å \"x", category: "town", latitude: 1, longitude: 2)
        #expect(result.places == [town])
        #expect(result.rejected == [RejectedRow(line: 3, reason: .noName, sourceID: "3")])
        #expect(result.progress.notSelected == 1)
    }

    @Test(
        "A malformed mapping is an error that names the place",
        arguments: [
            ("[]", "should be a JSON object"), ("{\"name\": ", "isn't JSON: "),
            (#"{"nmae": ["{x}"]}"#, "nmae: isn't one of id, name"),
            (#"{"name": "{x}"}"#, "name: should be a list of choices"),
            (#"{"name": ["{x}"]}"#, "category: is missing"),
            (#"{"name": ["a", "{x"]}"#, "name[1]: a brace has no counterpart: {x"),
            (#"{"name": ["{}"]}"#, "name[0]: a brace"), (#"{"name": [""]}"#, "name[0]: is empty"),
            (#"{"name": [1]}"#, "name[0]: should be a text, or"),
            (#"{"name": [{"when": {}}]}"#, "name[0]: has no \"then\""),
            (#"{"name": [{"when": {"a": 1}, "then": "b"}]}"#, "name[0].when.a: should be a text or"),
            (#"{"name": [{"then": 1}]}"#, "name[0].then: should be a text"),
            (#"{"name": [{"if": 1}]}"#, "name[0].if: isn't one of when, then"),
            (#"{"delimiter": "ab"}"#, "delimiter: should be one"),
            (#"{"columns": [1]}"#, "columns: should be a list of names"),
            (#"{"quotes": 1}"#, "quotes: should be true or false"),
        ])
    func malformed(mapping: String, message: String) {
        let error = error { try read("", mapping: mapping) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("\n") == false)
    }

    @Test("A mapping that isn't there is an error that names those that are")
    func missing() {
        let error = error { try PlaceImportTests.read(csv()) { $0.mapping = "geoname" } }
        #expect(error?.message.contains("columns, geonames, openstreetmap") == true)
    }

    @Test("The built-in mappings give categories of the vocabulary only")
    func vocabulary() throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let migration = try String(
            contentsOf: package.appendingPathComponent("Migrations/0103_create_locations.sql"),
            encoding: .utf8)
        for name in ["geonames", "openstreetmap"] {
            let mapping = try String(
                contentsOf: package.appendingPathComponent("Sources/PlaceImport/Mappings/\(name).json"),
                encoding: .utf8)
            let rules = try #require(mapping.split(separator: "\"category\": [").last)
            let categories = rules.matches(of: /"then": "([a-z_]+)"/).map { String($0.output.1) }
            #expect(categories.count > 20)
            for category in categories { #expect(migration.contains("('\(category)')"), "\(category)") }
        }
    }
}
