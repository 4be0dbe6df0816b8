import Foundation
import PlaceImport
import Testing

/// Rejected rows as files that a person mends, and that the same import reads again.
@Suite("Rejected rows")
struct RejectedRowsTests {
    /// Files of these names and texts, and one for what is rejected.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

        init() throws { try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: path) }

        func write(_ bytes: some Sequence<UInt8>, as name: String) throws -> String {
            let file = path.appendingPathComponent(name)
            try Data(bytes).write(to: file)
            return file.path
        }
    }

    /// The places of a source, and its file of rejected rows.
    private static func read(_ source: ImportSource) throws -> (places: [ImportedPlace], rejected: [UInt8]) {
        var (places, rejected): ([ImportedPlace], [UInt8]) = ([], [])
        let reader = try PlaceReader(source)
        while let item = try reader.next() {
            switch item {
            case .place(let place, _): places.append(place)
            case .rejected(let row): rejected += try reader.bytes(ofRejected: row)
            }
        }
        return (places, rejected)
    }

    /// Imports texts, mends what was rejected by replacing texts, and imports that with the same options.
    ///
    /// - Returns: the rejected rows without the folder's path, and the places of both imports.
    private static func mend(
        _ files: [(name: String, text: String)], _ mistakes: [String: String], as name: String = "rejected",
        _ change: (inout ImportSource) -> Void = { _ in }
    ) throws -> (rejected: String, places: [ImportedPlace]) {
        let folder = try Folder()
        var source = ImportSource(paths: try files.map { try folder.write($0.text.utf8, as: $0.name) })
        change(&source)
        let first = try read(source)
        let again = try rejects(of: first.rejected, in: folder, name, source)
        // What nobody has mended is rejected with the same bytes, but for the file and the line.
        #expect(again.rejected.split(separator: 0x0a).count == first.rejected.split(separator: 0x0a).count)
        var mended = String(decoding: first.rejected, as: UTF8.self)
        for (mistake, text) in mistakes { mended = mended.replacing(mistake, with: text) }
        let second = try rejects(of: Array(mended.utf8), in: folder, name, source)
        #expect(second.rejected.isEmpty, "\(String(decoding: second.rejected, as: UTF8.self))")
        let rejected = String(decoding: first.rejected, as: UTF8.self)
        return (rejected.replacing(folder.path.path + "/", with: ""), first.places + second.places)
    }

    private static func rejects(
        of bytes: [UInt8], in folder: Folder, _ name: String, _ source: ImportSource
    ) throws -> (places: [ImportedPlace], rejected: [UInt8]) {
        var source = source
        source.paths = [try folder.write(bytes, as: name)]
        return try read(source)
    }

    /// The places of texts.
    private static func places(
        _ files: [(name: String, text: String)], _ change: (inout ImportSource) -> Void = { _ in }
    ) throws -> [ImportedPlace] {
        let folder = try Folder()
        var source = ImportSource(paths: try files.map { try folder.write($0.text.utf8, as: $0.name) })
        change(&source)
        return try read(source).places
    }

    private static func byID(_ places: [ImportedPlace]) -> [ImportedPlace] {
        places.map(\.withAllGiven).sorted { $0.sourceID < $1.sourceID }
    }

    @Test("Rows of a CSV file are written with its header and their bytes, and the reason before them")
    func csvRows() throws {
        let text =
            "Name;Kind;\"lat\";lon;note\r\nA;cafe;1;2;\"x;\"\"y\"\r\nB;cafe;;3;\"two\nlines\"\r\n;park;4;5;\"z\""
        let (rejected, places) = try Self.mend(
            [("a.csv", text)], ["B;cafe;;": "B;cafe;7;", ";;park": ";C;park"])
        #expect(
            rejected == """
                rejected_line;rejected_reason;rejected_detail;Name;Kind;"lat";lon;note
                3;no-coordinates;;B;cafe;;3;"two
                lines"
                5;no-name;;;park;4;5;"z"

                """)
        let right = text.replacing("B;cafe;;", with: "B;cafe;7;").replacing("\n;park", with: "\nC;park")
            .replacing("\r\n;park", with: "\r\nC;park")
        #expect(places == (try Self.places([("a.csv", right)])))
        #expect(places.count == 3)
    }

    @Test(
        "Rows with too many columns, text behind a quote or a delimiter in the detail stay in their columns")
    func raggedRows() throws {
        let header = "name,category,lat,lon\n"
        let (rejected, places) = try Self.mend(
            [("a.csv", header + "A,cafe,1,2,3\n\"B\"b,cafe,3,4\nC,cafe,\"1,2,3\",5\n")],
            ["A,cafe,1,2,3": "A,cafe,1,2", "\"B\"b": "B", "C,cafe,\"1,2,3\"": "C,cafe,5"])
        #expect(
            rejected == """
                rejected_line,rejected_reason,rejected_detail,name,category,lat,lon
                2,column-count,5 columns instead of 4,A,cafe,1,2,3
                3,malformed-row,text behind a closing quote,"B"b,cafe,3,4
                4,malformed-coordinates,"1,2,3 5",C,cafe,"1,2,3",5

                """)
        #expect(places == (try Self.places([("a.csv", header + "A,cafe,1,2\nB,cafe,3,4\nC,cafe,5,5\n")])))
    }

    @Test("A row that isn't UTF-8 keeps its bytes")
    func bytes() throws {
        let folder = try Folder()
        let row = [0xff] + Array("é,cafe,1,2".utf8)
        let text = Array("name,category,lat,lon\nÉÉ,cafe,1,2\n".utf8) + row + [0x0a]
        let (_, rejected) = try Self.read(ImportSource(paths: [try folder.write(text, as: "a.csv")]))
        #expect(rejected.split(separator: 0x0a).last.map(Array.init) == Array("3,invalid-text,,".utf8) + row)
    }

    @Test("The delimiter is found again, however the file said it", arguments: ["sep=|\n", ""])
    func delimiter(line: String) throws {
        let text = line + "name|category|a,b,c,d,e,f,g,h|lat|lon\nA|cafe|x|1|2\nB|cafe|y||3\n"
        let (_, places) = try Self.mend([("a.csv", text)], ["|y||": "|y|5|"]) {
            if line.isEmpty { $0.delimiter = UInt8(ascii: "|") }
        }
        #expect(places.map(\.name) == ["A", "B"])
    }

    @Test("Rows of a file without a header have one, and the mapping reads it")
    func noHeader() throws {
        let row = "1\tZürich\tZurich\tZRH\t47\t8\tP\tPPLA\tCH\t\t\t\t\t\t341730\t\t\t\t\n"
        let wrong = "2\tBern\tBern\t\"B\tnone\t7\tP\tPPLC\tCH\t\t\t\t\t\t0\t\t\t\t\n"
        let geonames: (inout ImportSource) -> Void = { $0.mapping = "geonames" }
        let (rejected, places) = try Self.mend(
            [("a.txt", row + wrong)], ["\tnone\t7\tP": "\t46\t7\tP"], geonames)
        #expect(rejected.hasPrefix("rejected_line\trejected_reason\trejected_detail\tgeonameid\tname\t"))
        #expect(places == (try Self.places([("a.txt", row + wrong.replacing("none", with: "46"))], geonames)))
        #expect(places.map(\.name) == ["Zürich", "Bern"])
    }

    private static func feature(_ name: String, _ id: Int, type: String = "cafe", x: String = "2") -> String {
        """
        {"type": "Feature", "id": \(id), "geometry": {"type": "Point", "coordinates": [\(x), 1]},
         "properties": {"name": "\(name)", "category": "\(type)", "a": {"b": [1]}}}
        """
    }

    @Test("Features are written as they are, on lines, with the reason as members that GeoJSON allows")
    func features() throws {
        let features = [("A", "2"), ("", "3"), ("C", "500"), ("D", "null")].enumerated()
            .map { Self.feature($1.0, $0, x: $1.1) }
        let text = "{\"type\": \"FeatureCollection\", \"features\": [\(features.joined(separator: ",\n"))]}"
        let mistakes = ["\"name\": \"\"": "\"name\": \"B\"", "500": "50", "null": "5"]
        let (rejected, places) = try Self.mend([("a.geojson", text)], mistakes, as: "rejected.csv")
        let lines = rejected.split(separator: "\n")
        #expect(
            lines.first.map { String($0) }
                == #"{"rejected_file":"a.geojson","rejected_line":3,"rejected_reason":"no-name","rejected_detail":"","#
                + Self.feature("", 1, x: "3").dropFirst().replacing("\n", with: " "))
        #expect(lines.count == 3)
        var right = text
        for (mistake, value) in mistakes { right = right.replacing(mistake, with: value) }
        #expect(places == (try Self.places([("a.geojson", right)])))
        #expect(places.count == 4)
    }

    @Test("What only the file said is kept: its coordinate system, and that it is of OpenStreetMap")
    func context() throws {
        let crs = #""crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}"#
        let features = [Self.feature("A", 1, x: "1000"), Self.feature("", 2, x: "2000")]
        let text =
            "{\"type\": \"FeatureCollection\", \(crs), \"features\": [\(features.joined(separator: ","))]}"
        let mistake = ["\"name\": \"\"": "\"name\": \"B\""]
        let projected = try Self.mend([("a.json", text)], mistake)
        #expect(projected.rejected.contains(#","rejected_crs":"EPSG:3857","#))
        #expect(projected.places == (try Self.places([("a.json", text.replacing("\"\"", with: "\"B\""))])))
        let overpass = """
            {"version": 0.6, "osm3s": {"a": "b"}, "elements": [
            {"type": "node", "id": 1, "lat": 1, "lon": 2, "tags": {"name": "A", "amenity": "cafe"}},
            {"type": "node", "id": 2, "lat": 1, "lon": 2, "tags": {"amenity": "cafe"}}]}
            """
        let mapped = try Self.mend(
            [("b.json", overpass)], [#""tags": {"amenity""#: #""tags": {"name": "B", "amenity""#])
        #expect(mapped.places.map(\.sourceID) == ["node/1", "node/2"])
        #expect(mapped.places.map(\.name) == ["A", "B"])
        // As other programs write JSON, with blanks.
        let spaced = mapped.rejected.replacing("{\"rejected", with: "{ \"rejected")
            .replacing("\":\"", with: "\" : \"").replacing(#""tags": {"#, with: #""tags": {"name": "B", "#)
        #expect(try Self.places([("c.csv", spaced)]).map(\.sourceID) == ["node/2"])
    }

    @Test("Rows of several files are objects on lines, whatever the files' formats are")
    func severalFiles() throws {
        let files: [(String, String)] = [
            (
                "a.csv",
                "id,name,category,lat,lon,other_names\n1,A,cafe,1,2,\n2,,cafe,\"1,5\",2,\"x;\"\"y\"\nshort,row\n"
            ),
            ("b.geojsonl", Self.feature("", 3) + "\n" + Self.feature("D", 4)),
        ]
        let mistakes: [String: String] = [
            #""name":"""#: #""name":"B""#, #""name": """#: #""name": "C""#,
            #""rejected_text":"short,row""#: #""id":"5","name":"E","category":"park","lat":7,"lon":8"#,
        ]
        let (rejected, places) = try Self.mend(files, mistakes)
        let lines = rejected.split(separator: "\n")
        #expect(
            lines.prefix(2).map(String.init) == [
                #"{"rejected_file":"a.csv","rejected_line":3,"rejected_reason":"no-name","rejected_detail":"","id":"2","#
                    + #""name":"","category":"cafe","lat":"1,5","lon":"2","other_names":"x;\"y"}"#,
                #"{"rejected_file":"a.csv","rejected_line":4,"rejected_reason":"column-count","#
                    + #""rejected_detail":"2 columns instead of 6","rejected_text":"short,row"}"#,
            ])
        let right: [(String, String)] = [
            (
                files[0].0,
                files[0].1.replacing("2,,", with: "2,B,").replacing("short,row", with: "5,E,park,7,8,")
            ),
            (files[1].0, files[1].1.replacing("\"\"", with: "\"C\"")),
        ]
        #expect(Self.byID(places) == Self.byID(try Self.places(right)))
        #expect(places.count == 5)
    }

    @Test("Rows that were read in different coordinate systems are not put into one file")
    func differentSystems() throws {
        let crs = #""crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}"#
        let text = "{\"type\": \"FeatureCollection\", \(crs), \"features\": [\(Self.feature("", 1))]}"
        let error = #expect(throws: ImportError.self) {
            try Self.mend([("a.json", Self.feature("", 2)), ("b.json", text)], [:])
        }
        #expect(error?.message.contains("coordinate system") == true)
    }

    @Test("A feature that is too long or cut off is only named, and a malformed one is kept")
    func unreadable() throws {
        let folder = try Folder()
        let long = #"{"type":"Feature","a":""# + String(repeating: "a", count: 17 << 20) + "\"}\n"
        let malformed = "{\"type\":\"Feature\",\n\"properties\":{\"name\":oops}}\n"
        let text = "\u{1e}{\"type\":\"Feature\",\n\u{1e}" + long + "\u{1e}" + malformed
        let (_, rejected) = try Self.read(
            ImportSource(paths: [try folder.write(text.utf8, as: "a.geojsonseq")]))
        let lines = String(decoding: rejected, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first?.hasSuffix(#""rejected_detail":"the feature isn't closed"}"#) == true)
        #expect(lines.dropFirst().first?.hasSuffix(#""rejected_detail":"more than 16 MiB"}"#) == true)
        #expect(lines.last?.hasSuffix(#","type":"Feature", "properties":{"name":oops}}"#) == true)
    }
}
