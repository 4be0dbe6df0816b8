import PlaceImport
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
            "52°30'0''N 13°15'E", "(52°30'N 13°15'E)",
        ])
    func position(text: String) throws {
        let result = try read("name\tcategory\tcoordinates\nA\tcafe\t\(text)\n")
        #expect(result.places.map(\.latitude) == [52.5])
        #expect(result.places.map(\.longitude) == [13.25])
    }

    @Test(
        "What isn't a position is rejected",
        arguments: [
            "Berlin", "52.5", "52.5, 13.25, 7", "POINT(a b)", "POINT EMPTY", "POINT(1)", "1,5,2,5", "(", "()",
            ";",
            // What could be another angle.
            "52°30'", "52°30'N", "52°60'N 13°0'E", "52°30'60\"N 13°0'E", "52°30'N 13°15'N", "-52°30'S 13°E",
            "52.5°30'N 13°E", "52°N 13°O", "52°30'N 13°15'E 7", "52°30'N 13°15'", "52 30 N 13 15 E", "N E",
            "52°30.5'5\"N 13°E", "52°N13°E°", "N52°N 13°E", "north 52° east 13°",
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

private func bytes(_ text: String, count: Int) -> [UInt8] {
    Array(String(repeating: text, count: count / text.utf8.count + 1).utf8.prefix(count))
}
