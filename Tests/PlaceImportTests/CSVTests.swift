import Foundation
import PointsOfInterestAPI
import Randomness
import Testing

@testable import PlaceImport

@Suite("Rows of delimited fields")
struct CSVTests {
    private let cafe = ImportedPlace(
        sourceID: "7", name: "Café \"Roma\", Mitte", category: "cafe", latitude: 52.5, longitude: -13.25,
        featured: true, address: "Weg 1", website: "https://roma.example")

    @Test("A row becomes a place, with quoted fields that have delimiters, quotes and line ends")
    func row() throws {
        let result = try read(
            csv(#""Café ""Roma"", Mitte",cafe,52.5,-13.25,"7","Weg 1",https://roma.example,yes"#))
        #expect(result.places == [cafe])
        #expect(result.progress.rows == 1)
        #expect(result.progress.bytes == result.progress.totalBytes)
        let broken = try read(csv("\"Two\nlines\",cafe,1,2,,,,"))
        #expect(broken.places.map(\.name) == ["Two lines"])
    }

    @Test(
        "The delimiter, names of columns, line ends and a byte order mark are recognised",
        arguments: [
            "Title;Type;Latitude;Longitude;ID\nA;cafe;1;2;x\n",
            "name\tcategory\ty\tx\tid\r\nA\tcafe\t1\t2\tx\r\n",
            "id|lng|lat|kind|name\nx|2|1|cafe|A", "\u{feff}name,category,lat,long,id\n\nA,cafe,1,2,x\n\r\n",
            "\"name\",\"category\",\"lat\",\"lon\",\"id\"\r\n\"A\",\"cafe\",\"1\",\"2\",\"x\"",
            "a;b;c,name,category,lat,lon,id\n,A,cafe, 1 ,2,x",
            // Of delimiters that are there as often, the comma.
            "name,category,lat,lon,id,|||||\nA,cafe,1,2,x,",
        ])
    func recognised(text: String) throws {
        let place = ImportedPlace(sourceID: "x", name: "A", category: "cafe", latitude: 1, longitude: 2)
        #expect(try read(text).places == [place])
    }

    @Test("Options name columns and the delimiter")
    func options() throws {
        let text = "name:Titre:category:lat:lon:key\nwrong:A:cafe:1:2:k\nwrong:B:cafe:1:2:\n"
        let result = try read(text) {
            $0.delimiter = UInt8(ascii: ":")
            $0.columns = [.name: "titre", .id: "key"]
        }
        #expect(result.places.map(\.name) == ["A"])
        #expect(result.places.map(\.sourceID) == ["k"])
        #expect(result.rejected == [RejectedRow(line: 3, reason: .noID)])
    }

    @Test("Rejected rows tell their line, reason and id")
    func rejected() throws {
        let long = String(repeating: "é", count: 201)
        let result = try read(
            csv(
                ",cafe,1,2,a,,,", "\(long),cafe,1,2,b,,,", "A\0,cafe,1,2,c,,,", "A,cafe,,2,d,,,",
                "A,cafe,1;5,2,e,,,", "A,cafe,90.1,2,f,,,", "A,cafe,NaN,2,g,,,", "A,,1,2,h,,,",
                "A,Кафе,1,2,i,,,", "\"A\nB\",cafe,1,-181,j,,,", "A,cafe,1,2,k,,", "A,cafe,1,2,l,,,perhaps",
                "\"A\"B,cafe,1,2,m,,,", "A,cafe,1,1e999,n,,,", "A,cafe,1,2,\(long),,,"))
        #expect(result.places.isEmpty)
        #expect(
            result.reasons == [
                .noName, .nameTooLong, .nul, .noCoordinates, .malformedCoordinates, .coordinatesOutOfRange,
                .malformedCoordinates, .noCategory, .malformedCategory, .coordinatesOutOfRange, .columnCount,
                .malformedFeatured, .malformedRow, .coordinatesOutOfRange, .idTooLong,
            ])
        #expect(result.rejected.map(\.line) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17])
        #expect(result.rejected[4].sourceID == "e")
        #expect(result.rejected[4].detail == "1;5 2")
        let invalid = try read(Array(csv("ÉÉ,cafe,1,2,e,,,").utf8) + [0xff] + Array(",cafe,1,2,a,,,\n".utf8))
        #expect(invalid.reasons == [.invalidText])
    }

    @Test("Two columns of one name end the import where a place is made of them")
    func duplicateColumns() throws {
        let text = "name,category,lat,lon,Name,note,note\nA,cafe,1,2,B,x,y\n"
        let found = error { try read(text) }
        #expect(found?.message == "columns 1 and 5 are both called Name: rename one of them")
        #expect(try explain(text).contains("columns 1 and 5 are both called Name: rename one of them"))
        #expect(
            error { try read(text) { $0.columns = [.name: "note"] } }?.message.contains("6 and 7") == true)
        #expect(try read(text.replacing("Name", with: "label")).places.map(\.name) == ["A"])
    }

    @Test("The id of a row without one is a digest of its name and position")
    func digest() throws {
        let text = csv("A,cafe,1,2,,,,", "A,bar,1.0,2e0,,x,,", "B,cafe,1,2,,,,", "A,cafe,1,2.5,,,,")
        let ids = try read(text).places.map(\.sourceID)
        // It never changes: places of earlier imports are found again by it.
        #expect(ids[0] == "ulgpvNv5I-DoRfyF")
        #expect(ids[0] == ids[1])
        #expect(Set(ids).count == 3)
        #expect(ids.allSatisfy { $0.utf8.count == 16 })
    }

    @Test("Rows outside the box and the categories are counted, not rejected")
    func selection() throws {
        let text = csv(
            "A,cafe,1,2,a,,,", "B,cafe,1,20,b,,,", "C,bar,1,2,c,,,", ",bar,1,2,d,,,", ",cafe,1,179,e,,,")
        let result = try read(text) {
            $0.boundingBox = BoundingBox(west: 170, south: 0, east: 10, north: 10)
            $0.categories = ["cafe"]
        }
        #expect(result.places.map(\.sourceID) == ["a"])
        #expect(result.rejected.map(\.sourceID) == ["e"])
        #expect(result.progress.notSelected == 3)
        #expect(result.progress.rows == 5)
    }

    @Test("Several files are read one after the other, compressed ones among them")
    func files() throws {
        let rows = (0..<20_000).map { "Place \($0),cafe,1,2,\($0),,," }
        let text = Array(csv(rows.joined(separator: "\n")).utf8)
        let half = text.count / 2
        for bytes in [gzip(text), gzip(Array(text[..<half])) + gzip(Array(text[half...]))] {
            let result = try read(bytes, as: "places.csv.gz") { $0.paths += $0.paths }
            #expect(result.places.count == 40_000)
            #expect(result.places.last?.name == "Place 19999")
            #expect(result.progress.rows == 40_000)
            #expect(result.progress.totalBytes == 2 * bytes.count)
            #expect(result.progress.bytes == 2 * bytes.count)
        }
    }

    @Test("The rows of a file are the same wherever its chunks end")
    func chunks() throws {
        var generator = SeededGenerator()
        let names = (0..<30_000).map { number in
            String(
                repeating: ["x", "\"\"", "é", "\n", ","].randomElement(using: &generator) ?? "",
                count: number % 40)
        }
        let rows = names.enumerated().map { "\"A\($1)Z\",cafe,1,2,\"\($0)\",,," }
        let places = try read(csv(rows.joined(separator: "\r\n"))).places
        #expect(places.count == names.count)
        for (place, name) in zip(places, names) {
            let expected = "A\(name)Z".replacing("\"\"", with: "\"").replacing("\n", with: " ")
            #expect(place.name == expected)
        }
    }

    @Test("Lines are counted in each of several files, and a rejected row names its file")
    func severalFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let paths = ["a.csv", "b.csv"].map { folder.appendingPathComponent($0).path }
        let texts = [csv("A,cafe,1,2,1,,,", ",cafe,1,2,2,,,"), csv(",cafe,1,2,3,,,", "B,cafe,1,2,4,,,")]
        for (path, text) in zip(paths, texts) {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let reader = try PlaceReader(ImportSource(paths: paths))
        var found: [String] = []
        while let item = try reader.next() {
            switch item {
            case .place(let place, let line): found.append("\(reader.path) \(line) \(place.name)")
            case .rejected(let row): found.append("\(reader.path) \(row.line) \(row.reason.rawValue)")
            }
        }
        let (first, second) = (paths[0], paths[1])
        #expect(found == ["\(first) 2 A", "\(first) 3 no-name", "\(second) 2 no-name", "\(second) 3 B"])
        #expect(reader.progress.rows == 4)
        #expect(reader.progress.bytes == reader.progress.totalBytes)
    }
}
