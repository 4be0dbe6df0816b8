import CZlib
import Foundation
@testable import PlaceImport
import PointsOfInterestAPI
import Testing

/// Two places, as services give them.
private let objects =
    #"{"name":"A","type":"cafe","location":{"lat":1,"lng":2}},{"name":"B","kind":"Bar","geometry":{"location":{"lat":"2","lng":3}}}"#

private let keyedObjects =
    #""-K1":{"name":"A","type":"cafe","lat":1,"lon":2,"hours":{"mo":{},"tu":{}}},"-K2":{"name":"B","type":"bar","lat":3,"lon":4}"#

private let placeWithSeats = #"{"name":"A","type":"cafe","lat":1,"lon":2,"seats":[{"free":1}]}"#

@Suite("Files as people have them")
struct PeoplesFilesTests {
    private static let megabyte = 1 << 20

    @Test(
        "A category is known in any case, with any signs between its words",
        arguments: ["Coffee Shop", "COFFEE_SHOP", "coffee-shop", " Coffee  &  Shop ", "Coffée Shop"])
    func category(text: String) throws {
        let result = try read(csv("A,\(text),1,2,a,,,"))
        #expect(result.places.map(\.category) == ["coffee_shop"])
        #expect(result.progress.normalised[.categorySpelling] == 1)
    }

    @Test("What is no category in any spelling is rejected", arguments: ["Кафе", "7", "&", "café 喫茶", "-"])
    func noCategory(text: String) throws {
        #expect(try read(csv("A,\(text),1,2,a,,,")).reasons == [.malformedCategory])
    }

    @Test("A fixed text stands for a column that isn't there")
    func fixed() throws {
        let result = try read("name,lat,lon\nA,1,2\n") { $0.fixedTexts = [.category: "airport"] }
        #expect(result.places.map(\.category) == ["airport"])
    }

    @Test(
        "An option names a column without case, also one that the mapping has in another",
        arguments: [
            (
                "places.csv",
                "ID,Title,Type,Latitude,Longitude,Website\n7,T,cafe,52.5,13.4,https://a.example/\n"
            ),
            (
                "places.json",
                #"[{"ID":7,"Title":"T","Type":"cafe","Latitude":52.5,"Longitude":13.4,"#
                    + #""Website":"https://a.example/"}]"#
            ),
            (
                "places.geojson",
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[13.4,52.5]},"properties":"#
                    + #"{"ID":7,"Title":"T","Type":"cafe","Website":"https://a.example/"}}"#
            ),
        ])
    func caseOfColumns(file: String, text: String) throws {
        for change in [
            { (source: inout ImportSource) in source.columns = [.name: "Title", .id: "ID"] },
            { $0.columns = [.name: "TITLE", .id: "id", .category: "tYpe"] },
        ] {
            let place = try #require(
                try read(text, as: file) {
                    change(&$0)
                    $0.properties = ["Website"]
                }.places.first)
            #expect(place.name == "T" && place.sourceID == "7" && place.category == "cafe")
            #expect(place.website == "https://a.example/")
            #expect(place.properties == #"{"Website":"https://a.example/"}"#)
        }
    }

    @Test("Excel's line about the delimiter, decimal commas and Windows-1252 are read, and it is said")
    func excel() throws {
        let text = "sep=;\r\nName;Kategorie;Breitengrad;Längengrad\r\nCafé – 5 €;Café;52,5;13,25\r\n"
        let bytes = try #require(text.data(using: .windowsCP1252))
        let result = try read(Array(bytes))
        #expect(result.places.map(\.name) == ["Café – 5 €"])
        #expect(result.places.map(\.longitude) == [13.25])
        #expect(result.progress.remarks.count == 1)
        #expect(result.progress.remarks.first?.contains("Windows-1252") == true)
    }

    /// A row of a name in an encoding, by iconv's own program.
    private static func row(_ name: String, in encoding: String) throws -> [UInt8] {
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/iconv")
        process.arguments = ["-f", "UTF-8", "-t", encoding]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        input.fileHandleForWriting.write(Data(csv("\(name),cafe,1,2,a,,,").utf8))
        try input.fileHandleForWriting.close()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Array(bytes)
    }

    @Test(
        "Western European names are read in Windows-1252",
        arguments: [
            "Café – 5 €", "Größe", "Öl & Äther", "Œuvre d’été", "Crème brûlée créée", "L´Hôtel",
            "¿Qué? ¡Señor!", "Pão São João",
            "Paral·lel", "Smørrebrød", "Ærø Blåbær", "Hääyöaie", "Jäääär", "Nº 5", "Caffè più così però",
            "Ça va",
            "Zeeuws Eiland ‘t Hoekje", "50 m²", "Rock ’n’ Roll®", "«Élysée»", "Ü", "Žižek Škoda", "20 °C",
        ])
    func western(name: String) throws {
        let result = try read(try Self.row(name, in: "WINDOWS-1252"))
        #expect(result.places.map(\.name) == [name])
    }

    @Test(
        "What isn't Windows-1252 is refused with a guess, and read in the encoding that is named",
        arguments: [
            ("Łódź Cafe Żółw", "Windows-1250"), ("Třebíč", "Windows-1250"), ("Příbram", "Windows-1250"),
            ("Кафе Пушкин", "Windows-1251"), ("カフェ大阪", "Shift_JIS"), ("서울 남산 커피", "EUC-KR"),
            ("カフェ", "EUC-JP"),
            ("咖啡館", "Big5"), ("Кафе", "Windows-1251"),
            ("北京咖啡馆", "GB18030"),
            ("Diyarbakır Şehir", "Windows-1254"),
        ])
    func otherEncodings(name: String, encoding: String) throws {
        let bytes = try Self.row(name, in: encoding)
        let message = try #require(error { try read(bytes) }?.message)
        #expect(
            message.firstRange(of: /perhaps .*/).map { message[$0].contains(encoding) } == true, "\(message)")
        #expect(try read(bytes) { $0.encoding = encoding }.places.map(\.name) == [name])
        // A character is cut between two reads of the file, wherever it is.
        let padding = Array("Padding,cafe,1,2,p,,,\n".utf8)
        let line = bytes.drop { $0 != 0x0a }.dropFirst()
        let header = bytes.prefix { $0 != 0x0a } + [0x0a]
        for shift in 0..<4 {
            let many =
                header + repeatElement(padding, count: 4000).joined() + repeatElement(0x41, count: shift)
                + line
            let result = try read(Array(many)) { $0.encoding = encoding }
            #expect(result.places.last?.name == String(repeating: "A", count: shift) + name)
        }
    }

    @Test(
        "UTF-16 is read in either order, with a mark or without",
        arguments: ["UTF-16LE", "UTF-16BE", "UTF-16"])
    func utf16(encoding: String) throws {
        let result = try read(try Self.row("Żółw 🐢 大阪", in: encoding))
        #expect(result.places.map(\.name) == ["Żółw 🐢 大阪"])
        #expect(result.progress.remarks.first?.contains("UTF-16") == true)
    }

    @Test(
        "Whatever is no name of an encoding isn't asked of iconv",
        arguments: ["", "UTF-16//IGNORE", "a b", "nowhere-1", "é"])
    func noEncoding(name: String) {
        #expect(!ImportSource.isEncoding(name))
        #expect(
            error { try read(csv()) { $0.encoding = name } }?.message.contains("doesn't know the encoding")
                == true)
    }

    @Test("What can't be read is told with what helps, and without a dangerous option")
    func unreadable() throws {
        let old: [UInt8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]
        for (path, bytes, help) in [
            ("a.xls", old, "save it as .xlsx"),
            ("a.numbers", zip([("Index.zip", [1])]), "export it as .xlsx"),
        ] {
            let message = error { try read(bytes, as: path) }?.message ?? ""
            #expect(message.contains(help) && !message.contains("--unconfined-source"), "\(message)")
        }
        for path in ["https://a.example/b.csv?x=1", "HTTP://a.example/b.gpkg", "ftp://a.example/b.json"] {
            let message = error { try read(ImportSource(paths: [path])) }?.message ?? ""
            #expect(message.contains("curl -LO \(path.quotedForShell)"), "\(message)")
            #expect(!message.contains("--unconfined-source"))
        }
    }

    @Test("A text that isn't in its encoding throughout ends the import")
    func damagedEncoding() throws {
        let bytes = Array(csv("A,cafe,1,2,a,,,").utf8) + [0x90] + Array(",cafe,1,2,b,,,\n".utf8)
        for encoding in ["Windows-1252", "Shift_JIS"] {
            let message = error { try read(bytes) { $0.encoding = encoding } }?.message
            #expect(message?.contains("isn't \(encoding) throughout") == true, "\(message ?? "")")
        }
    }

    @Test(
        "The encoding is found wherever the first letter beyond ASCII is, and some damage is no other encoding"
    )
    func encoding() throws {
        let plain = String(repeating: "A,cafe,1,2,a,,,\n", count: 40_000)
        let late = Array((csv() + plain).utf8) + [0xc4] + Array(",cafe,1,2,b,,,\n".utf8)
        #expect(try read(late).places.last?.name == "Ä")
        let damaged = Array(csv("ÄÖÜ,cafe,1,2,a,,,").utf8) + [0xc4] + Array(",cafe,1,2,b,,,\n".utf8)
        #expect(try read(damaged).reasons == [.invalidText])
    }

    @Test(
        "Objects that aren't features are places, in an array, on lines, in a member and as members",
        arguments: [
            "[\(objects)]", objects.replacingOccurrences(of: "},{", with: "}\n{"),
            #"{"status":"OK","results":[\#(objects)],"next":null}"#,
            #"{"1":\#(objects.replacingOccurrences(of: "},{", with: #"},"2":{"#))}"#,
            #"{"name":{"x":"A"},"at":{"lat":1,"lng":2}}"# + "\n"
                + #"{"name":{"x":"B"},"at":{"lat":2,"lng":3}}"#,
        ])
    func plainObjects(text: String) throws {
        let result = try read(text, as: "places.json") { source in
            if text.contains("results") { source.layer = "results" }
            if text.contains("x\"") {
                source.columns = [.name: "name.x", .latitude: "at.lat", .longitude: "at.lng"]
                source.fixedTexts = [.category: "cafe"]
            }
        }
        #expect(result.places.map(\.name) == ["A", "B"])
        #expect(result.places.map(\.latitude) == [1, 2])
        #expect(result.rejected.isEmpty)
    }

    @Test(
        "The array of a member's member has the places, and one that has its name elsewhere has none",
        arguments: [
            #"{"meta":{"venues":[{"id":1}]},"response":{"venues":[\#(objects)],"total":2},"n":[{"a":1}]}"#,
            #"{"response":{"pages":[{"venues":[{"x":1}]}]},"venues":[],"response":{"venues" : [\#(objects)]}}"#,
            #"{"response.venues":[\#(objects)],"response":{"more":[{}]}}"#,
        ])
    func innerMember(text: String) throws {
        let result = try read(text, as: "places.json") { $0.layer = "response.venues" }
        #expect(result.places.map(\.name) == ["A", "B"])
        #expect(result.rejected.isEmpty)
    }

    @Test("Each member of a member's object is a place, and nothing else in the file is")
    func innerMembers() throws {
        for text in [
            #"{"a":{"x":1},"b":{"venues":{\#(keyedObjects)}},"venues":{"c":{}},"d":[{}]}"#,
            #"{"b":{"c":{"venues":{"e":{}}},"venues" : {\#(keyedObjects)},"f":{"g":"}"}}}"#,
            #"{"b.venues":{\#(keyedObjects)},"b":{"h":{}}}"#,
        ] {
            let result = try read(text, as: "places.json") { $0.layer = "b.venues" }
            #expect(result.places.map(\.name) == ["A", "B"], "\(text)")
            #expect(result.rejected.isEmpty)
        }
        let array = #"{"venues":{"a":{"name":"A"},"b":[1]}}"#
        #expect(error { try read(array, as: "a.json") { $0.layer = "venues" } } != nil)
        // GeoJSON has an array of features, and a feature may have a member of this name.
        let feature = #"{"name":"A","type":"cafe","lat":1,"lon":2,"features":{"wifi":{}}}"#
        #expect(try read(feature, as: "a.json").places.map(\.name) == ["A"])
    }

    @Test(
        "An object behind an array, and one in which a name without letters is asked for, have no places further in"
    )
    func noInnerMembers() throws {
        let behind = try read(#"[\#(objects)]{"a":{"b":{}}}"#, as: "a.json")
        #expect(behind.places.map(\.name) == ["A", "B"])
        #expect(behind.reasons == [.noCoordinates])
        for layer in ["", ".", "a..b"] {
            let result = try read(#"{"a":{"b":{"c":{}}}}"#, as: "a.json") { $0.layer = layer }
            #expect(result.places.isEmpty, "\(layer)")
        }
    }

    @Test("Members of members and elements have names with dots, wherever the mapping uses them")
    func nested() throws {
        let text =
            #"{"names":{"primary":"A"},"type":"cafe","geometry":{"type":"Point","coordinates":[2,1]},"site":["x.org","y.org"]}"#
        let result = try read(text, as: "a.json") { $0.columns = [.website: "site.1"] }
        #expect(result.places.map(\.name) == ["A"])
        #expect(result.places.map(\.website) == ["https://y.org"])
        #expect(result.places.map(\.longitude) == [2])
    }

    @Test("Elements of Overpass are places of OpenStreetMap")
    func overpass() throws {
        let elements =
            #"{"type":"node","id":1,"lat":1,"lon":2,"tags":{"amenity":"cafe","name":"A","name:sv":"B","type":"x","id":"y"}},"#
            + #"{"type":"way","id":2,"center":{"lat":3,"lon":4},"tags":{"tourism":"museum","name":"C"}},{"type":"node","id":3}"#
        let text = #"{"version":0.6,"osm3s":{"copyright":"x"},"elements":[\#(elements)]}"#
        let result = try read(text, as: "a.json")
        #expect(result.places.map(\.name) == ["A", "C"])
        #expect(result.places.map(\.latitude) == [1, 3])
        #expect(result.places.map(\.sourceID).last == "way/2")
        #expect(result.progress.notSelected == 1)
    }

    @Test("JSON of hostile shapes ends the import or is rejected, at a cost linear in its bytes")
    func hostileJSON() throws {
        let many = 300_000
        let shapes = [
            "[" + String(repeating: #"{"a":"#, count: many), String(repeating: "[", count: many), "[1,2]",
            "[[{}]]",
            #"{"a":{},"b":{},"# + String(repeating: #""c":"#, count: many), #"{"a":{},"b":{}}}"#, "[{}",
            "{\"a\":[{\"",
            #"[{"names":"# + String(repeating: #"{"a":["#, count: many) + "]",
        ]
        for shape in shapes { #expect(error { try read(shape, as: "a.json") } != nil, "\(shape.prefix(40))") }
        let wide = "[{" + (0..<many).map { #""a\#($0)":{"b":[1,2]}"# }.joined(separator: ",") + "}]"
        #expect(try read(wide, as: "a.json").reasons == [.noCoordinates])
        let name = String(repeating: "n", count: Self.megabyte)
        #expect(try read(#"[{"\#(name)":{"\#(name)":1}}]"#, as: "a.json").reasons == [.noCoordinates])
    }

    @Test("An archive of one file is read, compressed or not, also where there is no GDAL")
    func archives() throws {
        for isCompressed in [true, false] {
            let archive = zip(
                [("folder/", []), ("places.csv", Array(csv("A,cafe,1,2,a,,,").utf8))], isCompressed)
            let result = try read(archive, as: "a.zip") { $0.environment = ["PATH": "/nowhere"] }
            #expect(result.places.map(\.name) == ["A"])
        }
        let json = zip([("a.json", Array(#"[{"name":"A","kind":"cafe","lat":1,"lon":2}]"#.utf8))])
        #expect(try read(json, as: "a.zip").places.map(\.name) == ["A"])
    }

    @Test("A damaged or hostile archive ends the import")
    func hostileArchives() throws {
        let text = Array((csv() + (0..<100).map { "A\($0),cafe,1,2,a\($0),,,\n" }.joined()).utf8)
        let good = zip([("places.csv", text)])
        func message(_ bytes: [UInt8]) -> String? { error { try read(bytes, as: "a.zip") }?.message }
        #expect(message(zip([("a.csv", text), ("b.csv", text)]))?.contains("2 files: a.csv, b.csv") == true)
        #expect(message(zip([]))?.contains("no file") == true)
        #expect(message(zip([("a.exe", Array(csv().utf8))]))?.contains("unpack it first") == true)
        #expect(
            message(zip([("a.csv", [UInt8](repeating: 0x61, count: 8 * Self.megabyte))]))?.contains(
                "100 times") == true)
        // The directory says less than there is, or more.
        #expect(
            message(zip([("a.csv", text)], size: 100))?.contains("more bytes than the archive says") == true)
        let long = message(zip([("a.csv", text)], size: text.count + 1))
        #expect(
            long == "a.csv in the archive is damaged: it has \(text.count) bytes instead of \(text.count + 1)"
        )
        #expect(message([]) != nil)
        for length in stride(from: 0, to: good.count, by: 1 + good.count / 50) {
            #expect(message(Array(good.prefix(length))) != nil, "\(length)")
        }
    }

    @Test("A flipped bit of an archive ends the import, or changes nothing", arguments: [true, false])
    func flippedBits(isCompressed: Bool) throws {
        let text = Array((csv() + (0..<100).map { "A\($0),cafe,1,2,a\($0),,,\n" }.joined()).utf8)
        let good = zip([("places.csv", text)], isCompressed)
        let places = try read(good, as: "a.zip").places
        let data = 30 + "places.csv".utf8.count..<good.count - 22 - 46 - "places.csv".utf8.count
        for index in good.indices {
            var damaged = good
            damaged[index] ^= 1 << UInt8(index % 8)
            var result = ReadResult()
            let found = error {
                result = try read(damaged, as: "a.zip")
                return result
            }
            #expect(found != nil || result.places == places, "byte \(index)")
            // The last bits of compressed data may mean nothing.
            guard data.contains(index), let found else { continue }
            #expect(found.message.hasPrefix("places.csv in the archive is damaged: "), "byte \(index)")
        }
    }

    @Test("An explanation says what is missing and names the command that reads the file")
    func explanation() throws {
        #expect(try explain("name,lat,lon,note\nA,1,2,x\n").contains("--set category=CATEGORY"))
        #expect(try explain("Objektname,kind,lat,lon\nA,cafe,1,2\n").contains("--column name=Objektname"))
        let german = try explain("name,lat,lon,Art,Kategorien\nA,1,2,x,Bar\n")
        #expect(german.hasSuffix("--column category=Kategorien"))
        let labels =
            #"[{"name":"A","lat":1,"lon":2,"category_ids":["4bf58dd8d48988d16d941735"],"category_labels":["Bar"]}]"#
        #expect(try explain(labels, as: "a.json").hasSuffix("--column category=category_labels.0"))
        #expect(try explain("name,kind,lat,lon\r\nA,cafe,1,2\r\n").contains("lines end with CR LF"))
        #expect(
            try explain(#"{"type":"FeatureCollection","features":[]}"#, as: "a.geojson").contains("no rows"))
        let table = #"[{"name":"A","kind":"cafe","lat":1,"lon":2}]"#
        #expect(try !explain(table, as: "a.json").contains("@id"))
        #expect(
            try explain("name,kind,lat,lon,note\nA,x,1,2,b\n") { $0.properties = ["note"] }.contains(
                "--properties note"))
        #expect(try explain("name,kind,Ort\nA,cafe,\"52.5, 13.4\"\n").contains("--column position=Ort"))
        #expect(try explain("name,kind,x,y\nA,cafe,-12197880,4315889\n").contains("--crs EPSG:3857"))
        let own = try explain("id,name,kind,lat,lon\n7,A,cafe,1,2\n")
        #expect(own.contains("  id          id\n") && !own.contains("not used"))
        let feature =
            #"{"type": "Feature", "id": 7, "geometry": null, "properties": {"name": "A", "kind": "b"}}"#
        #expect(try explain(feature, as: "a.geojson").contains("  id          @id\n"))
        let places = try explain("name,kind,lat,lon,note\nA,Cafe,1,2,x\n")
        for text in [
            "CSV, UTF-8, lines end with LF, delimiter ,", "A (cafe) at 1.0, 2.0", "cafe 1", "note",
            "next: poi import",
        ] {
            #expect(places.contains(text), "\(text)")
        }
        let tags = #"[{"amenity":"cafe","name":"A","lat":1,"lon":2},{"shop":"x","name":"B","lat":1,"lon":2}]"#
        #expect(try explain(tags, as: "a.json").hasSuffix("--license ID --mapping openstreetmap"))
        let town = (["1", "A", "A", "", "1", "2", "P", "PPL", "DE"] + Array(repeating: "", count: 10))
        #expect(
            try explain(town.joined(separator: "\t"), as: "a.txt").hasSuffix(
                "--license ID --mapping geonames"))
        let finnish = #"[{"name":"A","type":"cafe","leveys":1,"pituus":2}]"#
        #expect(
            try explain(finnish, as: "a.json").hasSuffix(
                "--license ID --column latitude=COLUMN,longitude=COLUMN"))
        // What a service calls its kinds of places, it doesn't always say.
        let bare = #"{"results":[{"name":"A","lat":1,"lon":2}]}"#
        #expect(try explain(bare, as: "a.json").hasSuffix("--layer results --set category=CATEGORY"))
    }

    @Test("The command that is named next has each option once, those that were given too")
    func nextCommand() throws {
        let nothing = "Objektname,Lage\nA,\"52.5, 13.4\"\n"
        #expect(
            try explain(nothing).hasSuffix(
                "--license ID --column name=Objektname,position=Lage --set category=CATEGORY"))
        let text = "Objektname,Art,Nord,Ost\nA,cafe,1,2\n"
        let given = try explain(text) {
            $0.columns = [.latitude: "Nord", .longitude: "Ost"]
            $0.fixedTexts = [.category: "cafe"]
        }
        #expect(
            given.hasSuffix(
                "--license ID --column name=Objektname,latitude=Nord,longitude=Ost --set category=cafe"))
        #expect(try explain(text) { $0.columns[.latitude] = "Nord" }.contains("longitude=COLUMN"))
        #expect(try !explain(text) { $0.columns[.latitude] = "Nord" }.contains("latitude=COLUMN"))
        let selected = try explain("name^kind^lat^lon\nA^cafe^1^2\n") {
            ($0.format, $0.delimiter, $0.properties) = (.csv, UInt8(ascii: "^"), ["kind", "name"])
            $0.boundingBox = BoundingBox(west: -1, south: 0, east: 3, north: 4.5)
            $0.categories = ["cafe", "bar"]
        }
        #expect(
            selected.hasSuffix(
                "--license ID --format csv --delimiter '^' --properties kind,name --bbox -1.0,0.0,3.0,4.5 --category bar,cafe"
            ))
        #expect(try explain("name\tkind\tlat\tlon\n") { $0.delimiter = 9 }.hasSuffix("--delimiter tab"))
        let code = try explain("name,kind,lat,lon\n") { $0.referenceSystem = "not a code" }
        #expect(code.hasSuffix("--crs 'not a code'"))
    }

    @Test("A column whose name has commas is taken by its name")
    func commas() throws {
        let text = "Title,Kind,\"Latitude, Longitude\"\nOne,cafe,\"48.1, 11.5\"\n"
        let option = "position=Latitude, Longitude"
        #expect(try explain(text).hasSuffix("--column '\(option)'"))
        let columns = try #require([ImportField: String](option: "name=Title,\(option)"))
        #expect(columns == [.name: "Title", .position: "Latitude, Longitude"])
        #expect(columns.option == "name=Title,\(option)")
        let result = try read(text) { $0.columns = columns }
        #expect(result.places.map { [$0.latitude, $0.longitude] } == [[48.1, 11.5]])
        for wrong in [
            "", "=a", "name", "name=", "title=a", "name=a,name=b", "name=a,", "name=a,,b", "a,name=b",
        ] {
            #expect([ImportField: String](option: wrong) == nil, "\(wrong)")
        }
    }

    @Test(
        "Where a member of a JSON object has the places, an explanation reads them there, and needs no other option",
        arguments: [
            (#"{"status":"OK","results":[\#(objects)],"next":null}"#, "results"),
            (
                #"{"name":"A list","meta":{"links":[{"x":1}]},"pages":[{"x":1}],"items":[\#(objects)]}"#,
                "items"
            ),
            (#"{"status":{"ok":true},"response":{"venues":[\#(objects)],"total":1}}"#, "response.venues"),
            // As databases are exported that keep one tree.
            (#"{"places":{\#(keyedObjects)}}"#, "places"),
            (#"{"users":{"u1":{"x":{}},"u2":{}},"places":{\#(keyedObjects)},"n":1}"#, "places"),
            (#"{"users":{"u1":{},"u2":{}},"places":{\#(keyedObjects)}}"#, "places"),
            (#"{"version":7,"app":{"n":1,"de":{\#(keyedObjects)}}}"#, "app.de"),
        ])
    func memberExplanation(text: String, member: String) throws {
        let explanation = try explain(text, as: "a.json")
        #expect(explanation.contains("A (cafe) at 1.0, 2.0"))
        #expect(explanation.hasSuffix("--license ID --layer \(member)"))
    }

    @Test(
        "Arrays in places are no places",
        arguments: [
            // One after the other, as members, and one alone.
            "\(placeWithSeats)\n\(placeWithSeats)\n",
            #"{"1":\#(placeWithSeats),"2":\#(placeWithSeats)}"#, placeWithSeats,
            #"{\#(keyedObjects)}"#, #"{"name":"A","type":"cafe","lat":1,"lon":2,"hours":{"mo":{},"tu":{}}}"#,
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":\#(placeWithSeats)}"#,
        ])
    func arraysInPlaces(text: String) throws {
        let explanation = try explain(text, as: "a.json")
        #expect(explanation.contains("A (cafe) at 1.0, 2.0"))
        #expect(explanation.hasSuffix("--license ID"))
        #expect(!explanation.contains("members with places"))
    }

    @Test("Places that aren't selected have positions nevertheless")
    func notSelected() throws {
        for text in ["[\(objects)]", placeWithSeats] {
            let explanation = try explain(text, as: "a.json") {
                $0.boundingBox = BoundingBox(west: 50, south: 50, east: 51, north: 51)
            }
            #expect(!explanation.contains("latitude=COLUMN") && !explanation.contains("--layer"))
        }
    }

    @Test("A hostile file is explained without control characters, or not at all")
    func hostileExplanation() throws {
        let text = try explain("na\u{1b}[2Jme,\u{7},'; rm -rf /;'\n\u{1b}[31m,1,2\n")
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        _ = try explain(String(repeating: "a,", count: 4000) + "\n")
        _ = try explain(
            "[" + String(repeating: #"{"a":["#, count: 1000) + String(repeating: "]}", count: 1000) + "]",
            as: "a.json")
    }
}
