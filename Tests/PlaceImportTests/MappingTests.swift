import Foundation
import Randomness
import Testing

@testable import PlaceImport

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

    @Test("A choice isn't taken if a condition of unless holds; null is a field without a text")
    func reversedConditions() throws {
        let mapping = """
            {"name": ["{name}"], "latitude": ["1"], "longitude": ["2"],
             "category": [{"when": {"kind": [null, "eat*"]}, "unless": {"shut": "yes", "gone": "*"}, "then": "cafe"},
                          {"unless": {"kind": null}, "then": "{kind}"}],
             "operating_status": [{"when": {"shut": null, "never": null}, "then": "open"},
                                  {"unless": {"shut": "no"}, "then": "closed"}]}
            """
        let text = """
            name,kind,shut,gone
            A,,,
            B,eating,no,
            C,eating,yes,
            D,bar,,1
            E,,,1
            """
        let result = try read(text, mapping: mapping)
        #expect(result.places.map(\.name) == ["A", "B", "C", "D"])
        #expect(result.places.map(\.category) == ["cafe", "cafe", "eating", "bar"])
        #expect(result.places.map(\.operatingStatus) == [nil, nil, "permanentlyClosed", nil])
        #expect(result.progress.notSelected == 1 && result.rejected == [])
        // No column of the conditions needs to be there.
        #expect(try read("name\nA\n", mapping: mapping).places.map(\.category) == ["cafe"])
        let objects = #"[{"name":"A","kind":null,"shut":""},{"name":"B","kind":"eat","shut":"yes"}]"#
        let places = try read(objects, mapping: mapping, as: "a.json").places
        #expect(places.map(\.category) == ["cafe", "eat"])
        #expect(places.map(\.operatingStatus) == [nil, "permanentlyClosed"])
    }

    @Test("A field is cut before a text and behind another one, for conditions and properties")
    func cuts() throws {
        let mapping = """
            {"name": ["{name}"], "latitude": ["1"], "longitude": ["2"], "properties": ["n"],
             "category": [{"when": {"kind": "bar"}, "then": "bar"}, "{path}"],
             "cut": {"kind": {"before": ";"}, "path": {"before": "|", "behind": " > "}, "n": {"behind": "aa"}}}
            """
        let result = try read(
            """
            name,kind,path,n
            A,bar ; cafe,,1
            B,barn;bar,a > b > c | d > e,1aa2
            C,;bar,x,aa
            D,, > y > ,aaa3
            """, mapping: mapping)
        #expect(result.places.map(\.category) == ["bar", "c", "x"])
        #expect(result.places.map(\.properties) == [#"{"n":"1"}"#, #"{"n":"2"}"#, nil])
        #expect(result.reasons == [.noCategory])
        let numbers = try read(#"{"name":"A","path":"x","n":1.5,"kind":7}"#, mapping: mapping, as: "a.json")
        #expect(numbers.places.map(\.properties) == [#"{"n":1.5}"#])
    }

    @Test("A mapping has the members of the built-in one that it extends, but for its own")
    func extended() throws {
        let mapping = #"{"extends": "alltheplaces", "name": ["{brand}"], "properties": ["ref"]}"#
        let text =
            #"[{"id":"a","ref":"1","name":"A","brand":"B","amenity":"cafe","lat":1,"lon":2,"phone":"2"}]"#
        let place = try #require(try read(text, mapping: mapping, as: "a.json").places.first)
        #expect(place.name == "B" && place.category == "cafe" && place.properties == #"{"ref":"1"}"#)
    }

    @Test(
        "Columns become properties where an option or the mapping names them: text of a delimited file stays text"
    )
    func properties() throws {
        let mapping = """
            {"name": ["{name}"], "category": ["shop"], "latitude": ["{n}"], "longitude": ["{e}"],
             "importance": ["{rank}"], "properties": ["Phone", "open \\"hours\\"", "name"]}
            """
        let text = """
            name,n,e,rank,phone,"open ""hours""\",zip
            A,1,2,999.6,030 1,"Mo-Fr ""9""\",01234
            B,1,2,,  ,,
            C,1,2,1001,1,1,1
            """
        let result = try read(text, mapping: mapping)
        #expect(
            result.places.map(\.properties) == [
                #"{"Phone":"030 1","open \"hours\"":"Mo-Fr \"9\"","name":"A"}"#, #"{"name":"B"}"#,
            ])
        #expect(result.places.map(\.importance) == [1000, 0])
        #expect(result.reasons == [.malformedImportance])
        let named = try PlaceImportTests.read("name,category,lat,lon,zip\nA,shop,1,2,01234\n") {
            $0.properties = ["zip", "none"]
        }
        #expect(named.places.map(\.properties) == [#"{"zip":"01234"}"#])
        #expect(
            try PlaceImportTests.read("name,category,lat,lon,zip\nA,shop,1,2,01234\n").places[0].properties
                == nil)
    }

    @Test("A property of GeoJSON keeps its type, and what can't be stored is left out")
    func typedProperties() throws {
        func properties(_ json: String) throws -> [String?] {
            let feature = """
                {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]},
                 "properties": {"name": "A", "category": "shop", "p": \(json), "featured": [true]}}
                """
            let result = try PlaceImportTests.read(feature, as: "a.geojson") {
                $0.properties = ["p", "featured"]
            }
            return result.places.map(\.properties)
        }
        for json in ["1.50", "true", "false", #"{"a": ["x", null]}"#, "[]", #""a\"\\""#] {
            #expect(try properties(json) == ["{\"p\":\(json)}"])
        }
        // `featured` is a field of the place, too, so that it is no array.
        for json in ["null", "\"\"", "\" \"", "[1e999]", #"["\ud800"]"#] {
            #expect(try properties(json) == [nil])
        }
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

    @Test("A text is looked up in a table of the mapping; a choice whose text isn't there doesn't apply")
    func lookup() throws {
        let mapping = """
            {"name": ["{name}"], "category": ["{kind|kinds}", "shop"], "latitude": ["{n}"], "longitude": ["{e}"],
             "address": ["{city} ({where|country code|countries})", "{where|country code|countries}!", "{city}"],
             "properties": ["kind"],
             "lookup": {"countries": {"DE": "Germany", "FR": "France ü", "": "nowhere"}, "kinds": {"☕": "cafe"}}}
            """
        let result = try read(
            """
            name,n,e,kind,city,where|country code
            A,1,2,☕,Köln,DE
            B,1,2,tea,,FR
            C,1,2,,Rome,IT
            D,1,2,,Rome,
            E,1,2,,,de
            """, mapping: mapping)
        #expect(result.places.map(\.address) == ["Köln (Germany)", "France ü!", "Rome", "Rome", nil])
        #expect(result.places.map(\.category) == ["cafe", "shop", "shop", "shop", "shop"])
        #expect(result.places.map(\.properties) == [#"{"kind":"☕"}"#, #"{"kind":"tea"}"#, nil, nil, nil])
        let feature = """
            {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]},
             "properties": {"name": "A", "kind": "☕", "city": 7, "where|country code": "DE"}}
            """
        let place = try read(feature, mapping: mapping, as: "a.geojson").places.first
        #expect(place?.address == "7 (Germany)" && place?.category == "cafe")
    }

    @Test(
        "An importance by log10 is rounded, within 0 and 1000, and there is none of what isn't a number above 0",
        arguments: [
            ("10000000", 980), ("1000", 420), ("1e3", 420), (" 1000 ", 420), ("2138551", 886), ("1.5", 25),
            ("1", 0),
            ("99999999999999999999", 1000), ("1e308", 1000), ("0.001", 0), ("5e-324", 0), ("0", 0), ("-0", 0),
            ("-5", 0), ("", 0), (" ", 0), ("x", 0), ("1,000", 0), ("nan", 0), ("inf", 0), ("1e999", 0),
            ("0x10", 0),
        ])
    func logarithm(population: String, importance: Int) throws {
        let mapping = """
            {"name": ["{name}"], "category": ["town"], "latitude": ["{n}"], "longitude": ["{e}"],
             "importance": [{"then": "{people}", "log10": 140}]}
            """
        let result = try read("name,n,e,people\nA,1,2,\"\(population)\"\n", mapping: mapping)
        #expect(result.places.map(\.importance) == [importance])
        #expect(result.rejected == [])
    }

    @Test(
        "A choice by log10 has conditions as others do, and leaves the row to the next one where it has no number"
    )
    func logarithmChoices() throws {
        let mapping = """
            {"name": ["{name}"], "category": ["town"], "latitude": ["{n}"], "longitude": ["{e}"],
             "importance": [{"log10": 0.5, "when": {"kind": "peak"}, "then": "1{digits}"},
                            {"log10": 1000, "then": "{digits}"}, "7"]}
            """
        let result = try read(
            "name,n,e,kind,digits\nA,1,2,peak,000\nB,1,2,peak,x\nC,1,2,town,2\nD,1,2,,000\n", mapping: mapping
        )
        #expect(result.places.map(\.importance) == [2, 7, 301, 7])
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
            (
                #"{"name": [{"when": {"a": [null, 1]}, "then": "b"}]}"#,
                "name[0].when.a: should be a text or null"
            ),
            (#"{"name": [{"when": {"a": []}, "then": "b"}]}"#, "name[0].when.a: should be a text or null"),
            (#"{"name": [{"unless": {"a": 1}, "then": "b"}]}"#, "name[0].unless.a: should be a text or null"),
            (#"{"name": [{"unless": "a", "then": "b"}]}"#, "name[0].unless: should be an object"),
            (#"{"cut": {"a": {}}}"#, "cut.a: should be an object of"),
            (#"{"cut": 1}"#, "cut: should be an object"),
            (#"{"cut": {"a": {"before": ""}}}"#, "cut.a.before: should be a text"),
            (#"{"cut": {"a": {"after": "b"}}}"#, "cut.a.after: isn't one of before, behind"),
            (#"{"extends": "x.json"}"#, "extends: should be one of alltheplaces, columns"),
            (#"{"name": [{"then": 1}]}"#, "name[0].then: should be a text"),
            (#"{"name": [{"if": 1}]}"#, "name[0].if: isn't one of when, unless"),
            (#"{"delimiter": "ab"}"#, "delimiter: should be one"),
            (#"{"columns": [1]}"#, "columns: should be a list of names"),
            (#"{"quotes": 1}"#, "quotes: should be true or false"),
            (#"{"a\nb\r\nc\u2028d": 1}"#, "a b  c d: isn't one of"),
            (#"{"lookup": []}"#, "lookup: should be an object of tables"),
            (#"{"lookup": {"t": "x"}}"#, "lookup.t: should be an object of texts"),
            (#"{"lookup": {"t": {"DE": 1}}}"#, "lookup.t.DE: should be a text that isn't empty"),
            (#"{"lookup": {"t": {"DE": ""}}}"#, "lookup.t.DE: should be a text that isn't empty"),
            (#"{"name": ["a", "{x|t}"]}"#, #"name[1]: "lookup" has no table "t": {x|t}"#),
            (#"{"name": ["{x|}"], "lookup": {"t": {}}}"#, #"name[0]: "lookup" has no table """#),
            (#"{"name": ["{|t}"], "lookup": {"t": {}}}"#, "name[0]: there is no field before the table"),
            (
                #"{"importance": [{"then": "{x}", "log10": "a"}]}"#,
                "importance[0].log10: should be a number above 0"
            ),
            (
                #"{"importance": [{"then": "{x}", "log10": 0}]}"#,
                "importance[0].log10: should be a number above 0"
            ),
            (
                #"{"importance": [{"then": "{x}", "log10": 1001}]}"#,
                "importance[0].log10: should be a number above 0"
            ),
            (#"{"importance": [{"log10": 1}]}"#, "importance[0]: has no \"then\""),
            (#"{"name": [{"then": "{x}", "log10": 1}]}"#, "name[0].log10: is for importance only"),
            (#"{"other_names": [{"field": "a"}]}"#, "other_names[0].separator: should be one character"),
            (
                #"{"other_names": [{"field": "a", "separator": "é"}]}"#,
                "other_names[0].separator: should be one"
            ),
            (#"{"other_names": ["a", {"separator": ","}]}"#, "other_names[1].field: should be a name"),
            (
                #"{"other_names": [{"field": "a", "between": ","}]}"#,
                "other_names[0].between: isn't one of field"
            ),
        ])
    func malformed(mapping: String, message: String) {
        let error = error { try read("", mapping: mapping) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(where: \.isNewline) == false)
    }

    @Test("A mapping that isn't there is an error that names those that are")
    func missing() {
        let error = error { try PlaceImportTests.read(csv()) { $0.mapping = "geoname" } }
        #expect(error?.message.contains("columns, foursquare, geonames, gtfs, openstreetmap") == true)
    }

    static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func builtIn(_ name: String) throws -> Data {
        try Data(contentsOf: package.appendingPathComponent("Sources/PlaceImport/Mappings/\(name).json"))
    }

    @Test("A text is looked up in a file's table by what the mapping says; the file and its name are checked")
    func tables() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: file) }
        func read(_ table: String?, named name: String = "state") throws -> [String?] {
            if let table { try Data(table.utf8).write(to: file) }
            let rows = ["US\tTX", "US\tNY", "DE\tTX", "US\t"].enumerated().map { index, place in
                let fields = place.replacing("\t", with: "\t\t")
                return "\(index)\tParis\t\t\t1\t2\tP\tPPL\t\(fields)\t\t\t\t7\t\t\t\t"
            }
            return try PlaceImportTests.read(rows.joined(separator: "\n"), as: "XY.txt") {
                $0.mapping = "geonames"
                if table != nil { $0.tables = [name: file.path] }
            }.places.map(\.address)
        }
        let countries = ["United States", "United States", "Germany", "United States"]
        #expect(try read(nil) == countries)
        let states = try read("US.TX\tTexas\tTexas\t1\r\n\nUS.NY\tNew York\r\nDE.\tNowhere\n")
        #expect(states == ["Texas, United States", "New York, United States"] + countries.suffix(2))
        for (table, name, fault) in [
            ("US.TX\tTexas", "region", "has no \"region\", but state"),
            ("US.TX\tTexas\n\nUS.NY\n", "state", "line 3"),
            ("US.TX\t\n", "state", "line 1"),
        ] {
            let error = #expect(throws: ImportError.self) { try read(table, named: name) }
            #expect(error?.message.contains(fault) == true, "\(error?.message ?? "")")
        }
        try Data([0xff, 0x09, 0x41]).write(to: file)
        #expect(throws: ImportError.self) { try Mapping.named("geonames", tables: ["state": file.path]) }
        #expect(throws: ImportError.self) { try Mapping.named("geonames", tables: ["state": "/none"]) }
    }

    @Test("What a tag says gives a place of OpenStreetMap an importance, and other names and codes find it")
    func importance() throws {
        let places = try PlaceImportTests.read(
            """
            name,place,amenity,aeroway,iata,old_name,wikidata,wikipedia,lat,lon
            A,city,,,,"B;C",Q1,en:A,1,2
            B,,,aerodrome,HEL,,,,1,2
            C,,cafe,,,,Q2,,1,2
            D,,cafe,,,,,,1,2
            """
        ) { $0.mapping = "openstreetmap" }.places
        #expect(places.map(\.importance) == [700, 500, 200, 0])
        #expect(places.map(\.otherNames) == [["B", "C"], ["HEL"], [], []])
    }

    @Test("Rows with a name that no choice of the category takes are counted by what the choices look at")
    func leftOut() throws {
        var rows = [
            "name,tourism,amenity,shop,lat,lon", "A,,cafe,,1,2", ",,bench,,1,2", "B,,bench,,1,2",
            "C,,bench,x,,",
        ]
        rows += ["D,,bench,,1,2", "E,information,bench,,1,2", "F,,,,1,2"]
        rows += (0..<1100).map { "G,,kind \($0),,1,2" }
        let progress = try PlaceImportTests.read(rows.joined(separator: "\n")) {
            $0.mapping = "openstreetmap"
        }.progress
        #expect(progress.leftOut["amenity=bench"] == 2)
        #expect(progress.leftOut["tourism=information"] == 1)
        #expect(progress.leftOut["amenity=*"] == 102)
        #expect(progress.leftOut.count == 1001)
        let line = try #require(progress.leftOutLine)
        #expect(line.hasPrefix("left out: amenity=* 102, amenity=bench 2, amenity=kind 0 1, "))
        #expect(line.hasSuffix(", and 991 others"))
        #expect(try PlaceImportTests.read(csv("A,cafe,1,2,,,,")).progress.leftOutLine == nil)
    }

    @Test("The built-in mappings give categories of the vocabulary")
    func vocabulary() throws {
        let migrations = try ["0202_create_locations", "0213_label_categories"].map { name in
            try String(
                contentsOf: Self.package.appendingPathComponent("Migrations/\(name).sql"), encoding: .utf8)
        }
        for name in ["geonames", "gtfs", "openstreetmap", "overture"] {
            let mapping = String(decoding: try Self.builtIn(name), as: UTF8.self)
            let rules = try #require(mapping.split(separator: "\"category\": [").last)
            let chosen = rules.matches(of: /"then": "([a-z_]+)"/).map { String($0.output.1) }
            let found = rules.matches(of: /": "([a-z_]+)"/).map { String($0.output.1) }
            let categories = name == "overture" ? found : chosen
            #expect(categories.count > (name == "gtfs" ? 0 : 20))
            for category in categories {
                #expect(migrations.contains { $0.contains("('\(category)')") }, "\(category)")
            }
        }
    }
}

@Suite("Normalised fields")
struct NormalisationTests {
    private func place(address: String = "", website: String = "") throws -> ReadResult {
        try read(csv("A,cafe,1,2,a,\"\(address)\",\"\(website)\","))
    }

    @Test(
        "Invisible ends are trimmed, control characters become a space, and an empty text becomes nil",
        arguments: [
            ("  a b ", "a b", [Normalisation.trimmed: 1]), ("\u{feff}\u{200b}é\u{3000}", "é", [.trimmed: 1]),
            ("a\tb", "a b", [.controlCharacters: 1]),
            ("\na\u{2028}b\u{85}", "a b", [.trimmed: 1, .controlCharacters: 1]),
            ("a\u{200d}b", "a\u{200d}b", [:]), (" \u{a0}", nil, [.trimmed: 1]), ("", nil, [:]),
            (String(repeating: "é", count: 300), String(repeating: "é", count: 300), [:]),
            (String(repeating: "é", count: 301), nil, [.addressDropped: 1]),
        ] as [(String, String?, [Normalisation: Int])])
    func text(given: String, address: String?, counts: [Normalisation: Int]) throws {
        let result = try place(address: given)
        #expect(result.places.map(\.address) == [address])
        #expect(result.progress.normalised == counts)
    }

    @Test(
        "A website becomes a URL that the table's check accepts, or is dropped",
        arguments: [
            ("http://a.example/x?y=(z)#[1]", "http://a.example/x?y=(z)#[1]", []),
            ("www.a.example", "https://www.a.example", [Normalisation.websiteScheme]),
            ("HTTPS://A.example", "https://A.example", [.websiteScheme]),
            ("https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe", [.websiteEncoded]),
            ("BÜCHER.example", "https://xn--bcher-kva.example", [.websiteScheme, .websiteEncoded]),
            ("http://bu\u{308}cher.example", "http://xn--bcher-kva.example", [.websiteEncoded]),
            ("https://例え。テスト", "https://xn--r8jz45g.xn--zckzah", [.websiteEncoded]),
            // No label begins with a combining mark (UTS #46, section 4.1).
            ("https://a.\u{301}é.example", nil, [.websiteDropped]),
            ("https://a.example/a b|c", "https://a.example/a%20b%7Cc", [.websiteEncoded]),
            ("https://a.example:8080?q", "https://a.example:8080?q", []),
            ("javascript:alert(1)", nil, [.websiteDropped]), ("ftp://a.example", nil, [.websiteDropped]),
            ("https://user@a.example", nil, [.websiteDropped]),
            ("http://example", nil, [.websiteDropped]), ("http://localhost/a.b", nil, [.websiteDropped]),
            ("https://", nil, [.websiteDropped]), ("http://http://a.example", nil, [.websiteDropped]),
            ("//a.example/b", "https://a.example/b", [.websiteScheme]),
            ("a@b.example", nil, [.websiteDropped]),
            ("TBD", nil, [.websiteDropped]), ("0", nil, [.websiteDropped]), ("null", nil, [.websiteDropped]),
            ("http://192.0.2.1/", "http://192.0.2.1/", []),
            ("https://-a.example", nil, [.websiteDropped]),
            ("https://a.example:123456", nil, [.websiteDropped]), ("https://", nil, [.websiteDropped]),
            ("mail us at a@b", nil, [.websiteDropped]), ("a@b.example", nil, [.websiteDropped]),
            ("mailto:a@b.example", nil, [.websiteDropped]), ("tel:123", nil, [.websiteDropped]),
            ("N/A", nil, [.websiteDropped]), ("none", nil, [.websiteDropped]),
            ("null", nil, [.websiteDropped]),
            ("0", nil, [.websiteDropped]), ("TBD", nil, [.websiteDropped]), ("n.a", nil, [.websiteDropped]),
            ("12.50", nil, [.websiteDropped]), ("192.0.2.1", nil, [.websiteDropped]),
            ("localhost:8080", nil, [.websiteDropped]), ("a..example", nil, [.websiteDropped]),
            ("a.example:65535/x", "https://a.example:65535/x", [.websiteScheme]),
            ("a.example:65536", nil, [.websiteDropped]), ("http://a.example:65536/", nil, [.websiteDropped]),
            ("http://192.0.2.1/", "http://192.0.2.1/", []), ("http://192.0.2/", nil, [.websiteDropped]),
            ("http://192.0.2.256/", nil, [.websiteDropped]), ("http://a.b.7/", nil, [.websiteDropped]),
            (
                "\(String(repeating: "a", count: 63)).example",
                "https://\(String(repeating: "a", count: 63)).example",
                [.websiteScheme]
            ),
            ("http://\(String(repeating: "a", count: 64)).example", nil, [.websiteDropped]),
            ("http://\(String(repeating: "a.", count: 126))ab", nil, [.websiteDropped]),
            ("https://a.example/" + String(repeating: "é", count: 400), nil, [.websiteDropped]),
        ] as [(String, String?, [Normalisation])])
    func website(given: String, url: String?, kinds: [Normalisation]) throws {
        let result = try place(website: given)
        #expect(result.places.map(\.website) == [url])
        #expect(Set(result.progress.normalised.keys) == Set(kinds))
    }

    @Test("A normalised text passes the table's checks, and a second normalisation leaves it as it is")
    func checks() throws {
        var generator = SeededGenerator()
        let alphabet = Array(
            (" aé1ß日\u{1f600}-.:/?#@%<htps_\u{301}[^~|\u{1}\t\u{7f}\u{9f}\u{2028}"
                + "\u{200b}\u{200f}\u{2060}\u{3000}\u{feff}").unicodeScalars)
        let texts = (0..<4000).map { number in
            let scalars = (0..<Int.random(in: 0..<12, using: &generator)).compactMap { _ in
                alphabet.randomElement(using: &generator)
            }
            return ["", "http://", "https://a", "a."][number % 4] + String(String.UnicodeScalarView(scalars))
        }
        let invisible = #"\x{20}\x{a0}\x{1680}\x{2000}-\x{200f}\x{202f}\x{205f}\x{2060}\x{3000}\x{feff}"#
        let controls = #"\x{0}-\x{1f}\x{7f}-\x{9f}\x{2028}\x{2029}"#
        let line = try NSRegularExpression(
            pattern: "\\A(?![\(invisible)])[^\(controls)]+(?<![\(invisible)])\\z")
        let label = "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
        let byte = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
        let host = #"((\#(label)\.)*(?![0-9]+([:/?#]|\z))\#(label)|(\#(byte)\.){3}\#(byte))"#
        let port =
            "(:(?=[0-9]{1,5}([/?#]|\\z))0*([1-5]?[0-9]{0,4}|6([0-4][0-9]{3}|5([0-4][0-9]{2}|5([0-2][0-9]|3[0-5])))))?"
        let url = try NSRegularExpression(
            pattern: #"\Ahttps?://\#(host)\#(port)([/?#][\]!#-;=?-Z_a-z~\[]*)?\z"#)
        func matches(_ pattern: NSRegularExpression, _ text: String) -> Bool {
            let all = NSRange(location: 0, length: text.utf16.count)
            return pattern.firstMatch(in: text, range: all) != nil
        }
        let rows = texts.map { "A,cafe,1,2,,\"\($0)\",\"\($0)\"," }.joined(separator: "\n")
        let places = try read(csv(rows)).places
        #expect(places.count == texts.count)
        for (place, text) in zip(places, texts) {
            if let address = place.address { #expect(matches(line, address), "\(text.debugDescription)") }
            if let website = place.website { #expect(matches(url, website), "\(text.debugDescription)") }
            // A text that is right already is taken as it is. A host without a dot is none on the Internet.
            if matches(url, text) {
                let host = text.split(separator: "/").dropFirst().first?.prefix { !"?#".contains($0) }
                #expect(place.website == (host?.contains(".") == true ? text : nil))
            }
            if matches(line, text) { #expect(place.address == text) }
        }
    }
}
