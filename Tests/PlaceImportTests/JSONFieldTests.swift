import Foundation
import PlaceImport
import Testing

@Suite("Names, other names and properties of imported places as JSON")
struct JSONFieldTests {
    /// Reads a place whose three fields have these values of JSON, from CSV and from GeoJSON.
    private func places(
        names: String = "", otherNames: String = "", properties: String = "",
        _ change: (inout ImportSource) -> Void = { _ in }
    ) throws -> [ReadResult] {
        let fields = [("names", names), ("other_names", otherNames), ("properties", properties)]
        let columns = fields.map { "\"" + $1.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",")
        let csv =
            "name,category,lat,lon,phone,names,other_names,properties\nA,shop,1,2,7,\(columns)\n"
        let members = fields.filter { !$1.isEmpty }.map { ",\"\($0)\":\($1)" }.joined()
        let feature =
            "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[2,1]},"
            + "\"properties\":{\"name\":\"A\",\"category\":\"shop\",\"phone\":\"7\"\(members)}}\n"
        return [try read(csv, change), try read(feature, as: "places.geojson", change)]
    }

    @Test("An object of names, an array of other names and an object of properties are taken as they are")
    func whole() throws {
        let results = try places(
            names: #"{"ja":"東京", "zh-Hant": "\u5ee3,\"場\"", "x": {"en": "B"}}"#,
            otherNames: #"["a;b", "[c]", "a;b", "A"]"#,
            properties: #"{"a": [1.50, null, "\u0041 "], "b": {}, "": true}"#)
        for result in results {
            let place = try #require(result.places.first)
            #expect(place.names == #"{"ja":"東京","zh-Hant":"廣,\"場\""}"#)
            #expect(place.otherNames == ["a;b", "[c]"])
            #expect(place.properties == #"{"a": [1.50, null, "\u0041 "], "b": {}, "": true}"#)
            #expect(result.progress.normalised == [:])
        }
    }

    @Test("Columns that are asked for are added to an object of properties")
    func added() throws {
        for (properties, expected) in [
            (#"{"a": 1, "phone": 2}"#, #"{"a": 1, "phone": 2,"phone":"7"}"#), ("{ }", #"{ "phone":"7"}"#),
            ("", #"{"phone":"7"}"#),
        ] {
            let results = try places(properties: properties) { $0.properties = ["phone"] }
            #expect(results.map(\.places.first?.properties) == [expected, expected])
        }
    }

    @Test("What isn't such JSON is text, as ever, and an object that isn't JSON is dropped and counted")
    func others() throws {
        func place(_ row: String) throws -> (ImportedPlace, [Normalisation: Int]) {
            let result = try read("name,category,lat,lon,names,other_names,properties\nA,shop,1,2,\(row)\n")
            return (try #require(result.places.first), result.progress.normalised)
        }
        let (text, nothing) = try place("Alpha; Beta,[closed] B; C,sea view")
        #expect(text.names == nil && text.otherNames == ["[closed] B", "C"] && text.properties == nil)
        #expect(nothing == [:])
        let (broken, dropped) = try place(#""{""en"": ""B"", x}","[1]","{""a"": 1} {""b"": 2}""#)
        #expect(broken.names == #"{"en":"B"}"# && broken.otherNames == ["[1]"] && broken.properties == nil)
        #expect(dropped == [.namesDropped: 1, .propertiesDropped: 1])
        // What has the same members in other data: its name is found as ever.
        let overture = try read(
            #"{"names": {"primary": "A", "common": {"en": "B"}}, "type": "shop", "lat": 1, "lon": 2, "other_names": [1]}"#,
            as: "places.ndjson")
        #expect(overture.places.map(\.name) == ["A"] && overture.places.map(\.names) == [nil])
        #expect(overture.places.map(\.otherNames) == [[]] && overture.progress.normalised == [:])
    }

    @Test(
        "Numbers are taken with all digits with which PostgreSQL writes them, up to a length, and without an exponent"
    )
    func numbers() throws {
        let large = "1" + String(repeating: "0", count: 300)
        for (number, isTaken) in [
            (large, true), ("-0." + large, true), (String(repeating: "1", count: 1000), true),
            (String(repeating: "1", count: 1001), false), ("1e308", true), ("1e309", false),
            (large + "e1", false),
        ] {
            for result in try places(properties: "{\"a\": [\(number)]}") {
                #expect(
                    (result.places.first?.properties != nil) == isTaken,
                    "\(number.prefix(8)), \(number.count)")
            }
        }
    }

    @Test("A mapping names the fields that have an object, and other columns may be chosen instead")
    func mapping() throws {
        let mapping = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: mapping) }
        func write(_ members: String) throws {
            try Data(
                """
                {"name": ["{name}"], "category": ["shop"], "latitude": ["1"], "longitude": ["2"], \(members)}
                """.utf8
            ).write(to: mapping)
        }
        let text = "name,own,titles,t_en\nA,\"{\"\"a\"\": 1}\",\"{\"\"ja\"\": \"\"B\"\"}\",C\n"
        try write(#""names": ["t_*", "titles"], "properties": "own""#)
        let place = try #require(try read(text) { $0.mapping = mapping.path }.places.first)
        #expect(place.names == #"{"en":"C","ja":"B"}"# && place.properties == #"{"a": 1}"#)
        let chosen = try read(text) {
            $0.mapping = mapping.path
            $0.columns = [.names: "t_*"]
        }
        #expect(chosen.places.first?.names == #"{"en":"C"}"#)
        for (members, fault) in [
            (#""names": 1"#, "names: should be"), (#""names": ["a", "*"]"#, "names[1]: should be"),
            (#""properties": 1"#, "properties: should be"), (#""properties": """#, "properties: should be"),
        ] {
            try write(members)
            let message = error { try read(text) { $0.mapping = mapping.path } }?.message
            #expect(message?.hasPrefix(fault) == true, "\(message ?? "")")
        }
    }
}
