import Foundation
import PointsOfInterestClient
import Testing

@testable import PointsOfInterestContract

@Suite("The file of expected places", .onceOnly)
struct ExpectedPlacesParserTests {
    private static let header = "name,latitude,longitude"

    private func parse(_ text: String) throws -> ExpectedPlaces { try ExpectedPlaces(csv: Data(text.utf8)) }

    @Test("A file needs only three columns, and missing columns expect nothing")
    func least() throws {
        let file = try parse(Self.header + "\nTown Hall,37.5,-121.75")
        #expect(
            file.places == [ExpectedPlace(line: 2, name: "Town Hall", latitude: 37.5, longitude: -121.75)])
        #expect(file.settings == ServiceSettings())
    }

    @Test("Columns may come in any order, and an empty cell expects nothing")
    func everyColumn() throws {
        let file = try parse(
            "\u{FEFF}properties,importance,places,url,credit,license,id,dataset,website,address,featured,category,longitude,latitude,name\r\n"
                + "\"{\"\"a\"\": [1]}\",1000,7,https://u.example,C,ODbL-1.0,n/1,osm,https://w.example,Street 1,true,cafe,-1e0,+2,Café\r\n"
                + ",,,,,,,,,,false,,0,-90,B\r\n")
        var first = ExpectedPlace(line: 2, name: "Café", latitude: 2, longitude: -1)
        (first.category, first.featured, first.address) = ("cafe", true, "Street 1")
        (first.website, first.dataset, first.id) = ("https://w.example", "osm", "n/1")
        (first.license, first.credit, first.url) = ("ODbL-1.0", "C", "https://u.example")
        (first.datasetPlaces, first.importance, first.properties) = (7, 1000, ["a": [1]])
        var second = ExpectedPlace(line: 3, name: "B", latitude: -90, longitude: 0)
        second.featured = false
        #expect(file.places == [first, second])
    }

    @Test("Cells in quotation marks keep commas, marks, lines and normal forms")
    func quoted() throws {
        let file = try parse(
            "# POI_CORS_ORIGINS=*\n\(Self.header),address\n\"Cafe\u{301} \"\"Post\"\", old\",1,2,\"A\r\nB\"\n\nC,3,4,\n"
        )
        #expect(file.places.map(\.line) == [3, 6])
        let name = try #require(file.places.first?.name)
        #expect(name.isExactly("Cafe\u{301} \"Post\", old") && !name.isExactly("Café \"Post\", old"))
        #expect(file.places.map(\.address) == ["A\r\nB", nil])
    }

    @Test("Comments declare the service's settings")
    func settings() throws {
        let file = try parse(
            """
            # POI_CACHE_PRIVATE_MAX_AGE=0
            #POI_CACHE_PUBLIC_MAX_AGE=300
            # POI_CORS_ORIGINS=https://a.example, https://b.example
            \(Self.header)
            A,1,2
            """)
        #expect(file.settings.privateMaxAge == 0 && file.settings.publicMaxAge == 300)
        #expect(file.settings.origins == ["https://a.example", "https://b.example"])
    }

    @Test(
        "An invalid part of the file is named by its line and column",
        arguments: [
            ("", ExpectedPlacesError.noHeader), (header, .noPlaces),
            ("name,latitude\nA,1", .missingColumn(line: 1, name: "longitude")),
            ("\(header),colour\nA,1,2,red", .unknownColumn(line: 1, name: "colour")),
            ("\(header),name\nA,1,2,A", .repeatedColumn(line: 1, name: "name")),
            ("\(header)\nA,1,2\nB,1", .wrongCellCount(line: 3, count: 2, expected: 3)),
            ("\(header)\nA\"B,1,2", .misplacedQuote(line: 2)),
            ("\(header)\n\"A\"B,1,2", .misplacedQuote(line: 2)),
            ("\(header)\n\"A,1,2", .misplacedQuote(line: 2)),
            ("\(header)\n,1,2", .unusableCell(line: 2, column: "name", rule: "is empty")),
            ("\(header)\nA,91,2", latitude(line: 2)), ("\(header)\nA,0x1,2", latitude(line: 2)),
            ("\(header)\nA,nan,2", latitude(line: 2)), ("\(header)\nA,,2", latitude(line: 2)),
            (
                "\(header),featured\nA,1,2,yes",
                .unusableCell(line: 2, column: "featured", rule: "has to be true or false")
            ),
            (
                "\(header),importance\nA,1,2,1001",
                .unusableCell(line: 2, column: "importance", rule: "has to be a whole number of 0…1000")
            ),
            (
                "\(header),properties\nA,1,2,[]",
                .unusableCell(line: 2, column: "properties", rule: "has to be a JSON object")
            ),
            (
                "\(header),credit\nA,1,2,C",
                .unusableCell(
                    line: 2, column: "credit", rule: "is the dataset's, which has to be there too")
            ),
            (
                "\(header),dataset,places\nA,1,2,d,0",
                .unusableCell(line: 2, column: "places", rule: "has to be a whole number above 0")
            ),
            (
                "\(header),places\nA,1,2,3",
                .unusableCell(
                    line: 2, column: "places", rule: "is the dataset's, which has to be there too")
            ),
            (header + String(repeating: "\nA,1,2", count: 21), .tooManyPlaces(line: 22)),
            ("# known places\n\(header)\nA,1,2", .malformedSetting(line: 1)),
            ("# POI_PORT=1\n\(header)\nA,1,2", .unknownSetting(line: 1, name: "POI_PORT")),
            (
                "# POI_CORS_ORIGINS=*\n# POI_CORS_ORIGINS=*\n\(header)\nA,1,2",
                .repeatedSetting(line: 2, name: "POI_CORS_ORIGINS")
            ),
            (
                "# POI_CACHE_PUBLIC_MAX_AGE=1m\n\(header)\nA,1,2",
                .unusableSetting(line: 1, name: "POI_CACHE_PUBLIC_MAX_AGE")
            ),
        ])
    func fault(text: String, expected: ExpectedPlacesError) throws {
        let error = try #require(throws: ExpectedPlacesError.self) { try parse(text) }
        #expect(error == expected)
        #expect(!error.description.contains("\n"))
    }

    private static func latitude(line: Int) -> ExpectedPlacesError {
        .unusableCell(line: line, column: "latitude", rule: "has to be a decimal number of -90.0…90.0")
    }

    @Test("A file may have twenty places, and has to be UTF-8")
    func bounds() throws {
        let places = try parse(Self.header + String(repeating: "\nA,1,2", count: 20)).places
        #expect(places.count == 20)
        #expect(throws: ExpectedPlacesError.notUTF8) {
            try ExpectedPlaces(csv: Data(Self.header.utf8) + [0x0A, 0xFF])
        }
        #expect(throws: ExpectedPlacesError.unreadable) { try ExpectedPlaces(path: "/nowhere/at/all") }
    }
}

@Suite("Comparison by brute force", .onceOnly)
struct BruteForceTests {
    @Test(
        "A word matches by its beginning, without case and accents, from any character of a run on, and as it is spelled out",
        arguments: [
            ("Café Stritch", "cafe", true), ("Café Stritch", "STRI caf", true),
            ("Cafe\u{301} Stritch", "café", true),
            ("Café Stritch", "afe", false), ("Café Stritch", "cafe x", false), ("A&B/C-D", "d c b a", true),
            ("A_B", "ab", false), ("Children's Museum", "childrens", true), ("Straße 7", "strasse", true),
            ("東京タワー", "京タ", true), ("東京タワー", "東タ", false), ("東京Tower", "tow", true), ("Plain", "東", false),
            ("Müller", "mueller", true), ("Mueller", "müller", true), ("Mueller", "muller", false),
            ("Plain", "", false),
        ])
    func folding(name: String, text: String, isMatch: Bool) {
        #expect(NameWords(name).match(text) == isMatch)
    }

    @Test("A tile's box is in that tile alone", arguments: [0, 1, 5, 10, 15])
    func tileBox(level: Int) throws {
        for (latitude, longitude) in [
            (37.3, -121.9), (-0.1, 0), (0, 11.25), (0.1, 179.999), (89, -180), (-90, 180),
        ] {
            let tile = MapTile(level: level, latitude: latitude, longitude: longitude)
            let box = try #require(tile.box)
            for corner in [(box.north, box.west), (box.south, box.east), (box.south, box.west)] {
                // At level 0 the tile's eastern edge is its western one.
                let found = MapTile(level: level, latitude: corner.0, longitude: corner.1)
                #expect(found == tile, "\(corner)")
            }
            let touched = TouchedCells(box, zoom: level + 3)
            #expect(touched.level == level + 5)
            let first = MapTile(level: level + 5, latitude: box.north, longitude: box.west)
            #expect(touched.number(of: first) == 0)
        }
    }

    @Test(
        "Cells are numbered from the box's west, across the antimeridian too")
    func cells() throws {
        let box = try FoundBox.box(170, -10, -170, 10)
        let touched = TouchedCells(box, zoom: 3)
        func number(_ latitude: Double, _ longitude: Double) -> Int? {
            touched.number(of: MapTile(level: 5, latitude: latitude, longitude: longitude))
        }
        #expect(number(5, 175) == 0)
        #expect(number(5, 180) == 1)
        #expect(number(-5, -175) == 33)
        #expect(number(5, -160) == nil)
        #expect(number(40, 175) == nil)
    }
}
