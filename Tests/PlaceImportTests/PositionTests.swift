import PlaceImport
import Randomness
import Testing

@Suite("Positions as people write them")
struct PositionTests {
    @Test(
        "Latitude and longitude may be in one column, as angles with minutes and seconds, too",
        arguments: [
            "52.5, 13.25", "52.5 13.25", "(52.5, 13.25)", "[52.5,13.25]", "52,5; 13,25", "52,5 13,25",
            "POINT (13.25 52.5)",
            "point z(13.25 52.5 7)", "SRID=4326;POINT(13.25 52.5)", "LINESTRING(13 52,13.5 53)",
            "MULTIPOLYGON(((13 52,13.5 52,13.5 53,13 52)))",
            "52.5° N, 13.25° E", "52°30′N 13°15′E", "52°30'0\"N, 13°15'0\"E", "N 52° 30.0' E 13° 15.0'",
            "52.5N 13.25E", "13° 15' E, 52° 30' N", "52º30’N / 13º15’E", "52,5° N; 13,25° E",
            "52°30'00.0\"N 13°15'00.0\"E", "+52.5° +13.25°", "52° 30′ 0″ n 13° 15′ 0″ e", "52°30'N,13°15'E",
            "52°30'0''N 13°15'E", "(52°30'N 13°15'E)", "52 30 N 13 15 E", "N 52 30 E 13 15", "52:30N 13:15E",
            "52:30:00 North, 13:15:00 East", "north 52° 30′ east 13° 15′", "52d30m0sN 13d15m0sE",
            "52d30m 13d15m",
            "52 deg 30 min N 13 deg 15 min E", "52°30´0´´N 13°15´0´´E", "52 30’ 00’’N 13 15’ 00’’E",
            "52.5\u{a0}, \u{feff}13.25", "\u{200e}52.5,\u{200e}13.25\u{200b}", "52.5;\u{202f}13.25",
            "'52.5, 13.25",
            "52,5 , 13,25",
        ])
    func position(text: String) throws {
        let result = try read("name\tcategory\tcoordinates\nA\tcafe\t\(text)\n")
        #expect(result.places.map(\.latitude) == [52.5])
        #expect(result.places.map(\.longitude) == [13.25])
    }

    @Test(
        "An address may have its position in brackets behind it",
        arguments: [
            ("100 MAIN ST\nOAKLAND, CA 94601\n(37.25, -122.5)", "100 MAIN ST, OAKLAND, CA 94601"),
            ("Weg 1 (Hof), Ort (37,25; -122,5)", "Weg 1 (Hof), Ort"),
            ("Café (37°15′N 122°30′W) ", "Café"), ("(37.25, -122.5)", nil),
        ])
    func addressWithPosition(text: String, address: String?) throws {
        let result = try read("name,category,position\nA,cafe,\"\(text)\"\n")
        #expect(result.places.map(\.address) == [address])
        #expect(result.places.map(\.latitude) == [37.25])
        #expect(result.places.map(\.longitude) == [-122.5])
        let other = try read("name,category,position,address\nA,cafe,\"\(text)\",Own\n")
        #expect(other.places.map(\.address) == ["Own"])
    }

    @Test(
        "WKT has no address",
        arguments: [
            "POINT (13.5 52.25)", "POINT(13.5 52.25)", "SRID=4326;POINT(13.5 52.25)",
            "Point Z (13.5 52.25 7.5)",
            "MULTIPOINT ((13.5 52.25))", "LINESTRING (13.5 52.25, 13.5 52.25)",
        ])
    func wktWithoutAddress(text: String) throws {
        let result = try read("name,category,wkt\nA,cafe,\"\(text)\"\n")
        #expect(result.places.map(\.latitude) == [52.25])
        #expect(result.places.map(\.address) == [nil])
    }

    @Test(
        "An address with anything else in brackets is no position",
        arguments: [
            "100 MAIN ST (rear)", "Weg 1 (137.25, 22)", "Weg (1 2)", "(1, 2) Weg", "Weg 3 (5, 6, 7)",
            "Weg ()",
        ])
    func addressWithoutPosition(text: String) throws {
        #expect(try read("name,category,position\nA,cafe,\"\(text)\"\n").reasons == [.malformedCoordinates])
    }

    @Test(
        "A position may be an object or an array",
        arguments: [
            #"{"lon":2.5,"lat":48.25}"#, #"{"Longitude":"2.5","Latitude":"48.25","human_address":"{}"}"#,
            #"{"x":2.5,"y":48.25}"#, #"{"type":"Point","coordinates":[2.5,48.25,7]}"#, "[48.25,2.5]",
            #"["48.25","2.5"]"#,
        ])
    func positionObject(json: String) throws {
        let object = #"{"name":"A","category":"cafe","geo_point_2d":\#(json)}"#
        let text = "name,category,position\nA,cafe,\"\(json.replacing("\"", with: "\"\""))\"\n"
        let other = #"{"name":"A","category":"cafe","where":\#(json)}"#
        for result in [
            try read("[\(object)]", as: "a.json"), try read(text),
            try read(text.replacing("\"\"", with: "'")),
            try read("[\(other)]", as: "a.json") { $0.columns = [.position: "where"] },
        ] {
            #expect(result.places.map(\.latitude) == [48.25])
            #expect(result.places.map(\.longitude) == [2.5])
        }
    }

    @Test(
        "What isn't a position, or could be two, isn't read as one",
        arguments: [
            ("location", #"{"city":"Paris"}"#), ("coordinates", "[13.5,52.25]"), ("location", "[1,2]"),
            ("geo_point_2d", #"{"lat":1}"#),
            ("geo_point_2d", #"{"lat":[1],"lon":2}"#),
        ])
    func noPositionObject(name: String, json: String) throws {
        let result = try read(#"[{"name":"A","category":"cafe","\#(name)":\#(json)}]"#, as: "a.json")
        #expect(result.reasons == [.noCoordinates])
    }

    @Test(
        "What isn't a position is rejected",
        arguments: [
            "Berlin", "52.5", "52.5, 13.25, 7", "POINT(a b)", "POINT EMPTY", "POINT(1)", "1,5,2,5", "(", "()",
            ";",
            // What could be another angle.
            "52°30'", "52°30'N", "52°60'N 13°0'E", "52°30'60\"N 13°0'E", "52°30'N 13°15'N", "-52°30'S 13°E",
            "52.5°30'N 13°E", "52°N 13°O", "52°30'N 13°15'E 7", "52°30'N 13°15'", "52 30 13 15", "N E",
            "52°30.5'5\"N 13°E", "52°N13°E°", "N52°N 13°E", "4 8, 1 3", "52°30 13°15", "52 30 15s 13 15 0e",
            "52 30s 13 15e", "S41 25,120 58W", "52\u{ad}30, 13", "５２.5, 13.25", "52.5 - 13.25",
            "northern 52° 13°E",
        ])
    func noPosition(text: String) throws {
        let reasons = try read("name\tcategory\tlocation\nA\tcafe\t\(text)\n").reasons
        #expect(reasons == [.malformedCoordinates])
    }

    @Test("The south and the west are negative, and a sign holds for minutes and seconds, too")
    func negativeAngles() throws {
        let positions = ["37°15′S 58°30′36″W", "-37°15′ -58°30′36″", "S 37.25° W 58.51°"]
        for text in positions {
            let result = try read("name\tcategory\tcoordinates\nA\tcafe\t\(text)\n")
            #expect(result.places.map(\.latitude) == [-37.25], "\(text)")
            #expect(result.places.map(\.longitude) == [-58.51], "\(text)")
        }
    }

    @Test("A column of angles is a latitude or a longitude, whichever its letters say")
    func columnsOfAngles() throws {
        let header = "name|category|lat|lon\n"
        let result = try read(header + "A|cafe|52°30′N|13°15′E\nB|cafe|52.5°|-13.25\n")
        #expect(result.places.map(\.latitude) == [52.5, 52.5])
        #expect(result.places.map(\.longitude) == [13.25, -13.25])
        for row in ["C|cafe|13°15′E|52°30′N\n", "D|cafe|52°30'N|13\u{7f}\n", "E|cafe|52,5,0°|13\n"] {
            #expect(try read(header + row).reasons == [.malformedCoordinates], "\(row)")
        }
        #expect(try read(header + "F|cafe|90.1°N|0°E\n").reasons == [.coordinatesOutOfRange])
        let inMetres = try read(header + "G|cafe|52°30′N|13°15′E\n") { $0.referenceSystem = "EPSG:3857" }
        #expect(inMetres.reasons == [.malformedCoordinates])
    }

    @Test("Numbers are read as they are meant, or refused, in degrees and in metres")
    func numbers() throws {
        func read(_ text: String, inMetres: Bool) throws -> [Double] {
            let rows = "name\tcategory\tlat\tlon\nA\tcafe\t\(text)\t13\n"
            return try PlaceImportTests.read(rows) { if inMetres { $0.referenceSystem = "EPSG:3857" } }.places
                .map(\.latitude)
        }
        let latitude = 48.5
        for text in ["−48.5", "–48.5", "‑48,5", "'-48.5", "\u{200f}-48.5\u{a0}", "48.5S", "48,5 S", "-48.50"]
        {
            #expect(try read(text, inMetres: false) == [-latitude], "\(text)")
        }
        for text in [
            "4 8", "4\u{a0}8", "48 5", "48.5-", "1,048.5", "4.8.5", "48,5,0", "- 48.5", "48..5", "４８",
        ] {
            #expect(try read(text, inMetres: false).isEmpty, "\(text)")
        }
        let north = try #require(try read("5820100", inMetres: true).first)
        for text in [
            "5,820,100", "5.820.100", "5 820 100", "5\u{202f}820\u{a0}100", "5,820,100.0", "5.820.100,00",
            "5820100,0",
        ] {
            #expect(try read(text, inMetres: true) == [north], "\(text)")
        }
        // As metres they may be a thousand times as much.
        for text in ["389,250", "5,82,100", "5,820.100,0", "5 82 100", "05,820,100", ",820", "5,8201,00"] {
            #expect(try read(text, inMetres: true).isEmpty, "\(text)")
        }
    }

    @Test("Of 5,000 random spellings none is another place")
    func randomSpellings() throws {
        var generator = SeededGenerator()
        let spellings = (0..<5000).map { _ in Spelling(using: &generator) }
        let rows = spellings.enumerated().map { "\($0)\tA\tcafe\t\($1.latitude)\t\($1.longitude)\n" }
        let result = try read("id\tname\tcategory\tlat\tlon\n" + rows.joined())
        #expect(result.places.count + result.rejected.count == spellings.count)
        #expect(result.places.count > 3000)
        for place in result.places {
            let spelling = spellings[try #require(Int(place.sourceID))]
            #expect(
                abs(place.latitude - spelling.degrees.0) < 1e-9
                    && abs(place.longitude - spelling.degrees.1) < 1e-9,
                "\(spelling)")
        }
        let mustBeRead = spellings.indices.filter { !spellings[$0].mayBeRefused }
        let read = Set(result.places.map(\.sourceID))
        for index in mustBeRead { #expect(read.contains("\(index)"), "\(spellings[index])") }
    }

    @Test("Positions of any length are read once")
    func longPosition() throws {
        for text in ["POINT(", "1 ", "(", "1,", "LINESTRING(1 2,", "POINT" + " ", ";", "1°", "N "] {
            let row =
                Array("name|category|wkt\nA|cafe|".utf8) + bytes(text, count: (1 << 20) - 20) + [0x0a]
            let result = try read(row)
            #expect(result.places.count + result.rejected.count == 1, "\(text)")
        }
    }

    @Test("Other coordinate systems become degrees, by an option and by what the file says")
    func systems() throws {
        let result = try read("name,category,x,y\nA,cafe,1492237.76,6894701.26\nB,cafe,1e300,1\n") {
            $0.referenceSystem = "EPSG:3857"
        }
        #expect(abs((result.places.first?.latitude ?? 0) - 52.52) < 0.01)
        #expect(result.reasons == [.coordinatesOutOfRange])
        let text =
            #"{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::3857"}},"features":["#
            + #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1492237.76,6894701.26]},"properties":"#
            + #"{"name":"A","category":"cafe"}}]}"#
        #expect(try abs((read(text, as: "a.geojson").places.first?.longitude ?? 0) - 13.405) < 0.01)
    }

    @Test(
        "A coordinate system that isn't known ends the import with the option that says it, wherever the file names it",
        arguments: [
            #"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS27"}}"#,
            #"{"type":"name","properties":{"name":"ETRS89 / UTM zone 32N"}}"#,
            #"{"type":"link","properties":{"href":"http://example.org/crs/42"}}"#, #"{"type":"EPSG"}"#,
        ])
    func unknownSystem(crs: String) throws {
        let feature =
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"name":"A","category":"cafe"}}"#
        let before = #"{"type":"FeatureCollection","crs":\#(crs),"features":[\#(feature)]}"#
        let blanks = String(repeating: " ", count: 300_000)
        let behind = #"{"type":"FeatureCollection","features":[\#(feature)\#(blanks)],"x":{},"crs":\#(crs)}"#
        for text in [before, behind] {
            #expect(error { try read(text, as: "a.geojson") }?.message.contains("--crs EPSG:CODE") == true)
            #expect(
                try read(text, as: "a.geojson") { $0.referenceSystem = "EPSG:4326" }.places.map(\.longitude)
                    == [2])
        }
        #expect(try explain(before, as: "a.geojson").hasSuffix("--crs EPSG:CODE"))
        let geometry = feature.replacing(#""type":"Point","#, with: #""type":"Point","crs":\#(crs),"#)
        #expect(error { try read(geometry, as: "a.geojsonl") } != nil)
        for known in ["urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326", "urn:ogc:def:crs:EPSG::4326"] {
            let text = before.replacing(crs, with: #"{"type":"name","properties":{"name":"\#(known)"}}"#)
            #expect(try read(text, as: "a.geojson").places.map(\.longitude) == [2])
        }
    }

    @Test(
        "A file's coordinate system is used, as it is named",
        arguments: [
            #""crs":"EPSG:3857""#, #""crs":{"type":"EPSG","properties":{"code":3857}}"#,
            #""crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::3857"}}"#,
            #""spatialReference":{"wkid":102100,"latestWkid":3857}"#,
            #""spatialReference":{"wkid":102100}"#,
        ])
    func namedSystem(member: String) throws {
        let feature =
            #"{"type":"Feature","properties":{"name":"A","category":"cafe"},"geometry":"#
            + #"{"type":"Point","coordinates":[1491636.1,6894700]}}"#
        let object = #"{"attributes":{"NAME":"A","TYPE":"cafe"},"geometry":{"x":1491636.1,"y":6894700}}"#
        for place in [feature, object] {
            let before = #"{\#(member),"fields":[{"name":"x"}],"features":[\#(place)]}"#
            let result = try read(before, as: "a.json")
            #expect(result.places.map { ($0.latitude * 1e4).rounded() } == [525200])
            #expect(try !explain(before, as: "a.json").contains("--crs"))
            let behind =
                #"{"features":[\#(place),\#(String(repeating: " ", count: 20_000))\#(place)],\#(member)}"#
            #expect(
                error { try read(behind, as: "a.json") }?.message.contains("behind its features") == true)
        }
    }

    @Test("Positions that can't be degrees are no places, and what to say is offered")
    func notDegrees() throws {
        let text =
            #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"A","category":"cafe"},"#
            + #""geometry":{"type":"Point","coordinates":[389250,5820100]}}]}"#
        #expect(try read(text, as: "a.geojson").reasons == [.coordinatesOutOfRange])
        #expect(try explain(text, as: "a.geojson").hasSuffix("--license ID --crs EPSG:CODE"))
    }

    @Test(
        "Only codes of registries are coordinate systems, so that PROJ opens no file",
        arguments: [
            "EPSG:999999", "+proj=longlat", "EPSG:4326+5773", "/etc/passwd", "EPSG:", "epsg:3857 ",
            "OGC:CRS84",
        ])
    func wrongSystem(code: String) throws {
        let found = error { try read("name,category,x,y\nA,cafe,1,2\n") { $0.referenceSystem = code } }
        #expect(found != nil)
    }
}

/// A position, and one of the ways in which people write it.
private struct Spelling {
    var latitude: String
    var longitude: String
    let degrees: (Double, Double)
    /// Whether who knows nothing of it can't be sure.
    let mayBeRefused: Bool

    init(using generator: inout SeededGenerator) {
        let (first, second) = (Angle(below: 90, using: &generator), Angle(below: 180, using: &generator))
        let style = Int.random(in: 0..<12, using: &generator)
        let separator = ["", " ", "\u{a0}", "  "].randomElement(using: &generator) ?? ""
        let isComma = Bool.random(using: &generator)
        let names = ["N": "North", "S": "South", "E": "east", "W": "WEST"]
        func text(_ angle: Angle, _ sides: (String, String)) -> String {
            let side = angle.isNegative ? sides.1 : sides.0
            let decimals = isComma ? angle.seconds.replacing(".", with: ",") : angle.seconds
            let (minus, whole, minutes) = (angle.isNegative ? "−" : "", angle.whole, angle.minutes)
            switch style {
            case 0: return "\(minus)\(angle.decimal)"
            case 1: return "\(angle.decimal)\(separator)\(side)"
            case 2: return "\(side)\(separator)\(angle.decimal)°"
            case 3: return "\(whole)°\(separator)\(minutes)′\(separator)\(decimals)″\(separator)\(side)"
            case 4: return "\(minus)\(whole)º\(separator)\(minutes)'\(separator)\(decimals)''"
            case 5: return "\(whole) \(minutes) \(decimals)\(separator)\(side)"
            case 6: return "\(side)\(separator)\(whole):\(minutes):\(decimals)"
            case 7: return "\(whole)d\(separator)\(minutes)m\(separator)\(decimals)s\(side)"
            case 8: return "\(whole)°\(minutes)´\(decimals)´´ \(names[side] ?? side)"
            // These say less.
            case 9: return "\(minus)\(whole) \(minutes) \(decimals)"
            case 10: return "\(angle.decimal)\(angle.isNegative ? "-" : "")"
            default: return "\(whole) \(minutes) \(decimals)\(side.lowercased())"
            }
        }
        (latitude, longitude) = (text(first, ("N", "S")), text(second, ("E", "W")))
        degrees =
            style < 3 || style == 10
            ? (first.decimalDegrees, second.decimalDegrees) : (first.degrees, second.degrees)
        mayBeRefused = style > 8
    }

    private struct Angle {
        let isNegative: Bool
        let whole, minutes: Int
        let seconds, decimal: String

        init(below limit: Int, using generator: inout SeededGenerator) {
            isNegative = Bool.random(using: &generator)
            whole = Int.random(in: 0..<limit, using: &generator)
            minutes = Int.random(in: 0..<60, using: &generator)
            let fraction = Int.random(in: 0...999, using: &generator)
            seconds = "\(Int.random(in: 0..<60, using: &generator)).\(String(1000 + fraction).dropFirst())"
            decimal = "\(whole).\(String(1000 + fraction).dropFirst())\(minutes)"
        }

        private var sign: Double { isNegative ? -1 : 1 }
        var decimalDegrees: Double { sign * (Double(decimal) ?? .nan) }
        var degrees: Double {
            sign * (Double(whole) + Double(minutes) / 60 + (Double(seconds) ?? .nan) / 3600)
        }
    }
}

private func bytes(_ text: String, count: Int) -> [UInt8] {
    Array(String(repeating: text, count: count / text.utf8.count + 1).utf8.prefix(count))
}
