import Foundation
import PointsOfInterestClient
import Testing

@testable import PointsOfInterestContract

@Suite("The file of expected places", .onceOnly)
struct ExpectedPlacesFileTests {
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
            "\u{FEFF}properties,importance,places,url,credit,license,id,dataset,website,address,featured,category,longitude,latitude,name,operatingStatus\r\n"
                + "\"{\"\"a\"\": [1]}\",1000,7,https://u.example,C,ODbL-1.0,n/1,osm,https://w.example,Street 1,true,cafe,-1e0,+2,Café,temporarilyClosed\r\n"
                + ",,,,,,,,,,false,,0,-90,B,\r\n")
        var first = ExpectedPlace(line: 2, name: "Café", latitude: 2, longitude: -1)
        (first.category, first.featured, first.address) = ("cafe", true, "Street 1")
        (first.website, first.dataset, first.id) = ("https://w.example", "osm", "n/1")
        (first.license, first.credit, first.url) = ("ODbL-1.0", "C", "https://u.example")
        (first.datasetPlaces, first.importance, first.properties) = (7, 1000, ["a": [1]])
        first.operatingStatus = .temporarilyClosed
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
        "An invalid part of the file is named, with its line",
        arguments: [
            ("", "0 places instead of 1…20"), (header, "0 places instead of 1…20"),
            ("\(header),colour\nA,1,2,red", "the column colour isn't known"),
            ("\(header),name\nA,1,2,A", "a column is there twice"),
            ("\(header)\nA,1,2\nB,1", "line 3: 2 cells instead of 3"),
            ("\(header)\nA\"B,1,2", "line 2: a misplaced quotation mark"),
            ("\(header)\n\"A\"B,1,2", "line 2: a misplaced quotation mark"),
            ("\(header)\n\"A,1,2", "line 2: a quotation mark that isn't closed"),
            ("name,latitude\nA,1", "line 2: a place needs a name, a latitude and a longitude"),
            ("\(header)\n,1,2", "line 2: a place needs a name, a latitude and a longitude"),
            ("\(header)\nA,91,2", "line 2: latitude has to be -90…90"),
            ("\(header)\nA,nan,2", "line 2: latitude has to be -90…90"),
            ("\(header),featured\nA,1,2,yes", "line 2: featured has to be true or false"),
            ("\(header),importance\nA,1,2,1001", "line 2: importance has to be a whole number of 0…1000"),
            ("\(header),properties\nA,1,2,[]", "line 2: properties has to be a JSON object"),
            ("\(header),dataset,places\nA,1,2,d,0", "line 2: places has to be a whole number above 0"),
            (
                "\(header),credit\nA,1,2,C",
                "line 2: credit, url and places are a dataset's, which has to be there too"
            ),
            (header + String(repeating: "\nA,1,2", count: 21), "21 places instead of 1…20"),
            (
                "# POI_PORT=1\n\(header)\nA,1,2",
                "line 1: the setting POI_PORT isn't known, or its value can't be used"
            ),
            (
                "# POI_CACHE_PUBLIC_MAX_AGE=1m\n\(header)\nA,1,2",
                "line 1: the setting POI_CACHE_PUBLIC_MAX_AGE isn't known, or its value can't be used"
            ),
        ])
    func fault(text: String, expected: String) throws {
        let error = try #require(throws: ContractConfigurationError.self) { try parse(text) }
        #expect(error.description == expected)
    }

    @Test("A file may have twenty places, and has to be UTF-8")
    func bounds() throws {
        #expect(try parse(Self.header + String(repeating: "\nA,1,2", count: 20)).places.count == 20)
        #expect(throws: ContractConfigurationError("the file isn't UTF-8")) {
            try ExpectedPlaces(csv: Data(Self.header.utf8) + [0x0A, 0xFF])
        }
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
}
