import Foundation
import PlaceImport
import Testing

@Suite("Names in languages and other names of imported places")
struct NamesTests {
    @Test(
        "Columns become names in languages by the beginning of their names, and other names are between semicolons"
    )
    func columns() throws {
        let text = """
            name,category,lat,lon,name:ja,Name:zh-Hant,name:left,name:,other_names
            A,shop,1,2,東京," 廣""場 ",x,x,B; C;;B ;
            A,shop,1,2,,,,, ;
            """
        let result = try read(text)
        #expect(result.places.map(\.names) == [#"{"ja":"東京","zh-Hant":"廣\"場"}"#, nil])
        #expect(result.places.map(\.otherNames) == [["B", "C"], []])
        // `left` and the empty one are no languages.
        #expect(result.progress.normalised[.namesDropped] == 2)
        let chosen = try read(text) { $0.columns = [.names: "nam*", .otherNames: "name:ja"] }
        #expect(chosen.places.map(\.names) == [nil, nil])
        #expect(chosen.places.map(\.otherNames) == [["東京"], []])
        let both = try read("name,category,lat,lon,title_en\n,shop,1,2,A\n") {
            $0.columns = [.name: "TITLE_EN", .names: "Title_*"]
        }
        #expect(both.places.map(\.name) == ["A"] && both.places.map(\.names) == [#"{"en":"A"}"#])
    }

    @Test("A mapping says where names are; names that the table would refuse are dropped")
    func dropped() throws {
        let mapping = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        try Data(
            """
            {"name": ["{name}"], "category": ["shop"], "latitude": ["1"], "longitude": ["2"], "names": "n_*",
             "other_names": ["o1", "o2"]}
            """.utf8
        ).write(to: mapping)
        defer { try? FileManager.default.removeItem(at: mapping) }
        func place(_ columns: [(String, String)]) throws -> (place: ImportedPlace, dropped: Int) {
            let rows = [columns.map(\.0), columns.map(\.1)].map { $0.joined(separator: ",") }
            let result = try read("name,latitude,longitude,\(rows[0])\nA,1,2,\(rows[1])\n") {
                $0.mapping = mapping.path
                $0.columns = [.latitude: "latitude", .longitude: "longitude"]
            }
            return (try #require(result.places.first), result.progress.normalised[.namesDropped] ?? 0)
        }
        let line = String(repeating: "é", count: 200)
        let bad = try place([
            ("n_en", "a"), ("n_EN", "b"), ("n_en_US", "c"), ("n_de", line + "é"), ("n_etymology", "d"),
            ("n_x-a", "e"),
            ("n_fr", line), ("o1", "b;b;a"), ("o2", "c;" + line + "é"),
        ])
        #expect(bad.place.names == #"{"en":"a","fr":"\#(line)"}"# && bad.place.otherNames == ["b", "a", "c"])
        #expect(bad.dropped == 6)
        let many = try place((0..<301).map { ("n_en-\($0)", "\($0)") } + [("o1", "b")])
        #expect(many.dropped == 2 && many.place.otherNames.isEmpty)
        let long = try place([("o1", (100..<130).map { "\(line.dropLast(3))\($0)" }.joined(separator: ";"))])
        #expect(long.place.otherNames.count == 20 && long.dropped == 10)
    }

    @Test("Properties of GeoJSON become names, also those among the tags that GDAL has left over")
    func features() throws {
        func names(_ properties: String) throws -> String? {
            try read(
                """
                {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]},
                 "properties": {"name": "A", "category": "shop", \(properties)}}
                """, as: "a.geojson"
            ).places.first?.names
        }
        #expect(
            try names(
                #""name:en": "E", "NAME:\u006aa": "\u0022", "name:fr": null, "name:de": 7, "name:it": ["x"]"#)
                == #"{"en":"E","ja":"\"","de":"7"}"#)
        #expect(
            try names(#""other_tags": "\"a\"=>\"b\",\"name:en\"=>\"\\\"E\\\\\",\"name:fr\"=>\"F\"""#)
                == #"{"en":"\"E\\","fr":"F"}"#)
        for tags in [
            "", "x", #"\"name:en\""#, #"\"name:en\"=>"#, #"\"name:en\"=>\"E"#, #"\"name:en\"=\"E\""#,
            #"\"\"=>\"\""#,
        ] {
            #expect(try names("\"other_tags\": \"\(tags)\"") == nil)
        }
    }

    @Test(
        "A mapping whose names are no beginning is an error",
        arguments: [
            #""names": """#, #""names": "*""#, #""names": [1]"#, #""other_names": "a""#,
            #""other_names": [1]"#, #""other_names": [[]]"#,
        ])
    func malformed(member: String) throws {
        let mapping = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        try Data("{\"name\": [\"{n}\"], \"category\": [\"c\"], \(member)}".utf8).write(to: mapping)
        defer { try? FileManager.default.removeItem(at: mapping) }
        let error = error { try read("n\n") { $0.mapping = mapping.path } }
        #expect(error?.message.contains(/names(\[0\])?: should be/) == true, "\(error?.message ?? "")")
    }
}
