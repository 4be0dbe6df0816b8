import PointsOfInterestAPI
import Testing

@testable import PointsOfInterestServerAPI

@Suite("A parameter of a locations request")
struct ParameterTableTests {
    private func decode(_ query: String) throws(ParameterError) -> NearbyPlacesRequest {
        try NearbyPlacesRequest.decode(query: query.utf8, vocabulary: ParameterRow.vocabulary)
    }

    private func faults(of query: String) -> [ParameterFault] {
        do {
            _ = try decode(query)
            return []
        } catch {
            return error.faults
        }
    }

    @Test(
        "A parameter's minimum, maximum and values in between are accepted, and decoded",
        arguments: ParameterRow.all)
    func takes(row: ParameterRow) throws {
        for (value, isUnderstood) in row.taken {
            let request = try decode("\(row.beside)&\(row.parameter)=\(value)")
            #expect(isUnderstood(request), "\(row.parameter)=\(value)")
            let again = try decode(request.encodedQuery)
            #expect(again == request, "\(row.parameter)=\(value)")
        }
    }

    @Test("A value just out of range, or garbage, is refused with one fault", arguments: ParameterRow.all)
    func refuses(row: ParameterRow) {
        for (value, code) in row.refused {
            let faults = faults(of: "\(row.beside)&\(row.parameter)=\(value)")
            #expect(faults.map(\.parameter) == [row.parameter], "\(row.parameter)=\(value)")
            #expect(faults.map(\.code) == [code], "\(row.parameter)=\(value)")
            #expect(faults.allSatisfy { !$0.detail.isEmpty && $0.detail.utf8.count < 300 })
        }
    }

    @Test("An empty parameter is refused, with and without its equals sign", arguments: ParameterRow.all)
    func refusesEmptyValues(row: ParameterRow) {
        for query in ["\(row.beside)&\(row.parameter)=", "\(row.parameter)&\(row.beside)"] {
            let faults = faults(of: query)
            #expect(faults.map(\.parameter) == [row.parameter], "\(query)")
            #expect(faults.map(\.code) == [.emptyParameter], "\(query)")
        }
    }

    @Test(
        "A repeated parameter is refused, with the same value or another, its name encoded or not",
        arguments: ParameterRow.all)
    func refusesRepetition(row: ParameterRow) throws {
        let value = try #require(row.taken.first?.key)
        let other = try #require(row.taken.last?.key)
        let encodedName = row.parameter.utf8.map { "%" + String($0, radix: 16) }.joined()
        for second in ["\(row.parameter)=\(value)", "\(row.parameter)=\(other)", "\(encodedName)=\(value)"] {
            let faults = faults(of: "\(row.beside)&\(row.parameter)=\(value)&\(second)")
            #expect(faults.map(\.parameter) == [row.parameter], "\(second)")
            #expect(faults.map(\.code) == [.repeatedParameter], "\(second)")
        }
    }

    @Test("A parameter's name is case-sensitive", arguments: ParameterRow.all)
    func isCaseSensitive(row: ParameterRow) throws {
        let value = try #require(row.taken.first?.key)
        let faults = faults(of: "\(row.beside)&\(row.parameter.uppercased())=\(value)")
        let fault = try #require(faults.first { $0.code == .unknownParameter })
        #expect(fault.detail == "is not known; did you mean \(row.parameter)?")
    }

    @Test("The faults of all parameters are reported together")
    func tellsAllFaultsAtOnce() {
        let query =
            "lat=x&long=y&radius=0&limit=0&bbox=1&category=cafes&q=&featured=maybe&cursor=%zz&colour=3"
        #expect(
            Set(faults(of: query).map { "\($0.parameter) \($0.code.rawValue)" }) == [
                "lat not-a-number", "long not-a-number", "radius out-of-range",
                "radius conflicting-parameters", "limit out-of-range", "bbox malformed-box",
                "category unknown-category", "q empty-parameter", "featured not-a-boolean",
                "cursor malformed-encoding", "colour unknown-parameter",
            ])
    }

    @Test(
        "A parameter excludes another one, or needs it, as the table says",
        arguments: [
            ("", ["lat missing-parameter", "long missing-parameter"]),
            ("radius=1", ["lat missing-parameter", "long missing-parameter"]),
            ("bbox=0,0,1,1", []), ("bbox=0,0,1,1&lat=5&long=5", []),
            ("bbox=0,0,1,1&lat=5", ["long missing-parameter"]),
            ("bbox=0,0,1,1&long=5", ["lat missing-parameter"]),
            ("bbox=0,0,1,1&radius=5", ["radius conflicting-parameters"]),
            ("bbox=0,0,1,1&lat=5&long=5&radius=5", ["radius conflicting-parameters"]),
            ("bbox=&radius=5", ["bbox empty-parameter", "radius conflicting-parameters"]),
            ("sort=relevance&q=a", []), ("sort=%72elevance&q=a&lat=1&long=2&radius=5", []),
            ("sort=relevance&q=a&bbox=0,0,1,1", []), ("sort=relevance&q=a&long=5", ["lat missing-parameter"]),
            ("sort=relevance", ["q missing-parameter"]), ("sort=&q=a&lat=1&long=2", ["sort empty-parameter"]),
            ("sort=distance&q=a&lat=1&long=2", ["sort unknown-sort"]),
            ("sort=relevance&sort=relevance&q=a", ["sort repeated-parameter"]),
            ("sort=relevance&q=a&radius=5", ["lat missing-parameter", "long missing-parameter"]),
            (
                "sort=relevance&q=a&radius=5&bbox=0,0,1,1", ["radius conflicting-parameters"]
            ), ("ids=1&sort=relevance", ["sort conflicting-parameters"]),
            ("sort=relevance&q=a&near=5&lat=1&long=2", []),
            ("sort=relevance&q=a&near=5&lat=1&long=2&bbox=0,0,1,1", []),
            ("sort=relevance&q=a&near=5", ["lat missing-parameter", "long missing-parameter"]),
            ("sort=relevance&q=a&near=5&bbox=0,0,1,1", ["lat missing-parameter", "long missing-parameter"]),
            ("near=5&q=a&lat=1&long=2", ["near conflicting-parameters"]),
            ("sort=x&near=5&q=a&lat=1&long=2", ["sort unknown-sort"]),
            ("ids=1&near=5", ["near conflicting-parameters"]),
        ])
    func combines(query: String, expected: [String]) {
        #expect(faults(of: query).map { "\($0.parameter) \($0.code.rawValue)" } == expected)
    }

    @Test(
        "With ids, the request is for places by their ids, and takes nothing but a centre",
        arguments: [
            ("ids=3,1,2,3", []), ("ids=3%2C1%2C2%2C3", []), ("%69ds=1,2,3", []),
            ("ids=9223372036854775807&lat=1&long=2", []), ("ids=", ["ids empty-parameter"]),
            ("ids=0", ["ids not-an-integer"]), ("ids=%2B1", ["ids not-an-integer"]),
            ("ids=1,", ["ids not-an-integer"]), ("ids=9223372036854775808", ["ids not-an-integer"]),
            ("ids=10000000000000000000000", ["ids not-an-integer"]),
            ("ids=1&ids=2", ["ids repeated-parameter"]),
            ("ids=1&long=2", ["lat missing-parameter"]),
            (
                "ids=x&cursor=y&q=a&dataset=zz&category=zz&featured=2&bbox=1&limit=0&radius=0",
                ["ids not-an-integer"]
                    + ["radius", "limit", "bbox", "category", "dataset", "q", "featured", "cursor"]
                    .map { "\($0) conflicting-parameters" }
            ),
            ("ids=1&color=2", ["color unknown-parameter"]),
        ])
    func byID(query: String, expected: [String]) throws {
        #expect(faults(of: query).map { "\($0.parameter) \($0.code.rawValue)" } == expected)
        guard expected.isEmpty else { return }
        let request = try decode(query)
        #expect(!request.ids.isEmpty && request.ids == Set(request.ids).sorted(), "\(query)")
        #expect(try decode(request.encodedQuery) == request)
    }

    @Test("A hundred ids are taken, one more is refused")
    func countsIDs() throws {
        let ids = (1...101).map(String.init)
        _ = try decode("ids=" + ids.prefix(100).joined(separator: ","))
        let error = #expect(throws: ParameterError.self) {
            try decode("ids=" + ids.joined(separator: ","))
        }
        #expect(error?.code == .tooManyValues)
    }

    @Test("A cursor is checked only if all the other parameters are right")
    func looksAtCursorsLast() {
        #expect(faults(of: "lat=0&long=0&limit=0&cursor=x").map(\.parameter) == ["limit"])
    }
}

/// A row of the parameter table of `GET /locations`: what a parameter takes and what it refuses.
struct ParameterRow: Sendable, CustomStringConvertible {
    typealias Check = @Sendable (NearbyPlacesRequest) -> Bool

    let parameter: String
    /// What else a valid query with this parameter has.
    let beside: String
    /// The least, the greatest and whatever else is taken, percent-encoded, and how it is understood.
    let taken: KeyValuePairs<String, Check>
    /// Values just outside and garbage, percent-encoded, and the code of their one fault.
    let refused: [(value: String, code: ProblemCode)]

    var description: String { parameter }

    static let vocabulary = FilterVocabulary(
        categories: ["bar", "cafe", "museum"] + (1...60).map { "kind\($0)" },
        datasets: ["caf\u{E9}s", "Trees, Berlin", "trees"] + (1...60).map { "kind\($0)" })

    static let all = [
        latitude, longitude, radius, near, limit, box, category, dataset, searchText, featured, properties,
        lang,
        cursor,
    ]
}

extension ParameterRow {
    private static let latitude = ParameterRow(
        parameter: "lat", beside: "long=0",
        taken: [
            "-90": { $0.center?.latitude == -90 }, "90": { $0.center?.latitude == 90 },
            "-90.000e0": { $0.center?.latitude == -90 }, "-0": { $0.center?.latitude == 0 },
            "5e-324": { $0.center?.latitude == .leastNonzeroMagnitude },
        ],
        refused: [
            ("90.00000000000002", .swappedCoordinates), ("-90.00000000000002", .swappedCoordinates),
            ("91", .swappedCoordinates), ("-180", .swappedCoordinates), ("181", .outOfRange),
            ("1e400", .outOfRange), ("nan", .notANumber), ("-inf", .notANumber), ("1+", .notANumber),
            ("+1", .notANumber), ("north", .notANumber), ("0x1p3", .notANumber), ("1,5", .notANumber),
        ])

    private static let longitude = ParameterRow(
        parameter: "long", beside: "lat=0",
        taken: [
            "-180": { $0.center?.longitude == -180 }, "180": { $0.center?.longitude == 180 },
            "1.8E%2B2": { $0.center?.longitude == 180 }, "%2B0": { $0.center?.longitude == 0 },
        ],
        refused: [
            ("180.00000000000003", .outOfRange), ("-180.00000000000003", .outOfRange),
            ("-1e400", .outOfRange),
            ("360", .outOfRange), ("NaN", .notANumber), ("west", .notANumber), ("1.", .notANumber),
            ("%D9%A1", .notANumber), ("0%20", .notANumber),
        ])

    private static let radius = ParameterRow(
        parameter: "radius", beside: "lat=0&long=0",
        taken: [
            "5e-324": { $0.radiusMeters == .leastNonzeroMagnitude },
            "20037508": { $0.radiusMeters == 20_037_508 },
            "20037507.999999996": { $0.radiusMeters == 20_037_508.0.nextDown },
        ],
        refused: [
            ("0", .outOfRange), ("-0", .outOfRange), ("0e9", .outOfRange), ("1e-400", .outOfRange),
            ("-5e-324", .outOfRange), ("20037508.000000004", .outOfRange), ("1e999", .outOfRange),
            ("-1", .outOfRange), ("inf", .notANumber), ("100m", .notANumber), ("1e", .notANumber),
            ("1%002", .malformedEncoding),
        ])

    private static let near = ParameterRow(
        parameter: "near", beside: "lat=0&long=0&sort=relevance&q=a",
        taken: [
            "0": { $0.nearMeters == 0 && $0.nearLimit == nil }, "-0": { $0.nearLimit == nil },
            "5e-324": { $0.nearLimit == .leastNonzeroMagnitude },
            "20037508": { $0.nearLimit == 20_037_508 },
        ],
        refused: [
            ("-5e-324", .outOfRange), ("20037508.000000004", .outOfRange), ("1e999", .outOfRange),
            ("-1", .outOfRange), ("inf", .notANumber), ("50km", .notANumber),
        ])

    private static let limit = ParameterRow(
        parameter: "limit", beside: "lat=0&long=0",
        taken: ["1": { $0.limit == 1 }, "100": { $0.limit == 100 }, "%2B020": { $0.limit == 20 }],
        refused: [
            ("0", .outOfRange), ("-0", .outOfRange), ("-1", .outOfRange), ("101", .outOfRange),
            ("9223372036854775807", .outOfRange), ("9223372036854775808", .outOfRange),
            ("-9223372036854775808", .outOfRange), ("18446744073709551616", .outOfRange),
            ("1.0", .notAnInteger), ("1e1", .notAnInteger), ("ten", .notAnInteger), ("1%0A", .notAnInteger),
            ("0x1", .notAnInteger), ("1,2", .notAnInteger),
        ])

    private static let box = ParameterRow(
        parameter: "bbox", beside: "",
        taken: [
            "-180,-90,180,90": { $0.box == BoundingBox(west: -180, south: -90, east: 180, north: 90) },
            "0,0,0,0": { $0.box == BoundingBox(west: 0, south: 0, east: 0, north: 0) },
            "170,-10,-170,10": { $0.box?.crossesAntimeridian == true && $0.center == nil },
            "180%2C90%2C-180%2C90": { $0.box?.south == 90 },
            "1e1,0.0,2E%2B1,%2B1": { $0.box?.east == 20 },
        ],
        refused: [
            ("-180.00000000000003,0,0,0", .outOfRange), ("0,0,180.00000000000003,0", .outOfRange),
            ("0,-90.00000000000002,0,0", .outOfRange), ("0,0,0,90.00000000000002", .outOfRange),
            ("0,0,1e400,0", .outOfRange), ("0,1,0,0.9999999999999999", .malformedBox),
            ("0", .malformedBox), ("0,0,0", .malformedBox), ("0,0,0,0,0", .malformedBox),
            (",,,,", .malformedBox), (String(repeating: ",", count: 7000), .malformedBox),
            (",,,", .notANumber), ("0,0,0,", .notANumber), ("0,,0,0", .notANumber), ("0, 0,0,0", .notANumber),
            ("a,b,c,d", .notANumber), ("nan,0,0,0", .notANumber), ("0;0;0;0", .malformedBox),
            ("[0,0,0,0]", .notANumber), ("0,0,0,%FF", .malformedEncoding),
        ])

    private static let category = ParameterRow(
        parameter: "category", beside: "lat=0&long=0",
        taken: [
            "cafe": { $0.categories == ["cafe"] },
            "museum,cafe": { $0.categories == ["cafe", "museum"] },
            "cafe,cafe%2Cbar": { $0.categories == ["bar", "cafe"] },
            kinds(50): { $0.categories.count == 50 },
        ],
        refused: [
            (kinds(51), .tooManyValues), (String(repeating: "cafe,", count: 50) + "cafe", .tooManyValues),
            (String(repeating: ",", count: 7000), .tooManyValues), (",", .emptyParameter),
            ("cafe,", .emptyParameter), ("cafe,,bar", .emptyParameter), ("cafes", .unknownCategory),
            ("Cafe", .unknownCategory), ("cafe%20", .unknownCategory), ("%27%3B--", .unknownCategory),
            (String(repeating: "c", count: 7000), .unknownCategory), ("%C3", .malformedEncoding),
            ("cafe%00", .malformedEncoding),
        ])

    private static let dataset = ParameterRow(
        parameter: "dataset", beside: "lat=0&long=0",
        taken: [
            "trees": { $0.datasets == ["trees"] }, "caf%C3%A9s": { $0.datasets == ["caf\u{E9}s"] },
            "Trees%2C+Berlin": { $0.datasets == ["Trees, Berlin"] },
            "trees,Trees%2c%20Berlin,trees": { $0.datasets == ["Trees, Berlin", "trees"] },
            kinds(50): { $0.datasets.count == 50 },
        ],
        refused: [
            (kinds(51), .tooManyValues), (String(repeating: ",", count: 7000), .tooManyValues),
            (",", .emptyParameter), ("trees,", .emptyParameter), ("trees,Berlin", .unknownDataset),
            ("Trees", .unknownDataset), ("cafe%CC%81s", .unknownDataset), ("trees%2Ctrees", .unknownDataset),
            (String(repeating: "c", count: 7000), .unknownDataset),
            (String(repeating: "%CC%81", count: 2000), .unknownDataset),
            ("%C3", .malformedEncoding), ("trees,%C3", .malformedEncoding), ("%C3,%A9", .malformedEncoding),
            ("trees%00", .malformedEncoding),
        ])

    private static let searchText = ParameterRow(
        parameter: "q", beside: "lat=0&long=0",
        taken: [
            "c": { $0.searchText == "c" }, "Caf%C3%A9+Stritch": { $0.searchText == "Café Stritch" },
            text(100): { $0.searchText?.count == 100 }, "+": { $0.searchText == " " },
            String(repeating: "%F0%9F%92%99", count: 100): { $0.searchText?.utf8.count == 400 },
            "%25_%27%22%5C%26%3D": { $0.searchText == #"%_'"\&="# }, "a=b": { $0.searchText == "a=b" },
            "%01%0A": { $0.searchText == "\u{1}\n" },
        ],
        refused: [
            (text(101), .outOfRange), (text(7000), .outOfRange),
            // Characters are Unicode scalars: 51 letters with their accents beside them are 102.
            (String(repeating: "e%CC%81", count: 51), .outOfRange), ("a%00", .malformedEncoding),
            ("%C3%28", .malformedEncoding), ("%ED%A0%80", .malformedEncoding), ("%", .malformedEncoding),
        ])

    private static let featured = ParameterRow(
        parameter: "featured", beside: "lat=0&long=0",
        taken: ["true": { $0.featured == true }, "f%61lse": { $0.featured == false }],
        refused: [
            ("True", .notABoolean), ("1", .notABoolean), ("0", .notABoolean), ("yes", .notABoolean),
            ("true%20", .notABoolean), ("true,false", .notABoolean), ("null", .notABoolean),
            (text(7000), .notABoolean), ("%FE", .malformedEncoding),
        ])

    private static let properties = ParameterRow(
        parameter: "properties", beside: "lat=0&long=0",
        taken: [
            "a": { $0.properties == ["a"] }, "b,a,b": { $0.properties == ["a", "b"] },
            "a%2Cb,%22%01x": { $0.properties == ["\"\u{1}x", "a,b"] },
            "cafe%CC%81,caf%C3%A9": { $0.properties.count == 2 }, kinds(20): { $0.properties.count == 20 },
            text(7000): { $0.properties[0].utf8.count == 7000 },
        ],
        refused: [
            (kinds(21), .tooManyValues), (String(repeating: ",", count: 7000), .tooManyValues),
            (",", .emptyParameter), ("a,", .emptyParameter), ("a,,b", .emptyParameter),
            ("%C3", .malformedEncoding), ("a,%C3", .malformedEncoding), ("%C3,%A9", .malformedEncoding),
            ("a%00", .malformedEncoding),
        ])

    private static let lang = ParameterRow(
        parameter: "lang", beside: "lat=0&long=0",
        taken: [
            "en": { $0.languages == ["en"] }, "ja,EN,ja,en": { $0.languages == ["ja", "en"] },
            "zh-Hant-TW%2Cqq": { $0.languages == ["zh-hant-tw", "qq"] },
            "sl-rozaj-biske-1994,en-x-a": { $0.languages.count == 2 },
            tags(10): { $0.languages.count == 10 },
        ],
        refused: [
            (tags(11), .tooManyValues), (String(repeating: ",", count: 7000), .tooManyValues),
            (",", .emptyParameter), ("en,", .emptyParameter), ("en,,ja", .emptyParameter),
            ("*", .malformedLanguage), ("en_US", .malformedLanguage), ("e", .malformedLanguage),
            ("en-", .malformedLanguage), ("en-US;q=0.5", .malformedLanguage),
            ("en,%20ja", .malformedLanguage),
            ("fran%C3%A7ais", .malformedLanguage), (text(7000), .malformedLanguage),
            ("en" + String(repeating: "-a", count: 17), .malformedLanguage),
            ("en" + String(repeating: "-a", count: 3500), .malformedLanguage), ("%C3", .malformedEncoding),
            ("en%00", .malformedEncoding),
        ])

    private static func tags(_ count: Int) -> String {
        (1...count).map { "en-\($0)" }.joined(separator: ",")
    }

    private static let cursor = ParameterRow(
        parameter: "cursor", beside: "lat=0&long=0",
        taken: [
            made([0], .min, 0): { $0.start == PagePosition(distanceMeters: 0, id: .min, count: 0) },
            made([20_037_508], .max, 4_294_967_295): {
                $0.start == PagePosition(distanceMeters: 20_037_508, id: .max, count: 4_294_967_295)
            },
        ],
        refused: [
            (made([(20_037_508.0).nextUp], 1, 0), .malformedCursor), (made([-1], 1, 0), .malformedCursor),
            (made([.nan], 1, 0), .malformedCursor), (made([.infinity], 1, 0), .malformedCursor),
            (made([1], 1, 1) + "A", .malformedCursor), (String(made([1], 1, 1).dropLast()), .malformedCursor),
            (made([1], 1, 1) + "%3D", .malformedCursor), ("A", .malformedCursor), ("%20", .malformedCursor),
            (made([0, 0], 1, 0), .malformedCursor), (made([], 1, 0), .malformedCursor),
            (made([0], 1, 0, revision: 2), .malformedCursor),
            (made([0], 1, 0, revision: 0), .malformedCursor),
            ("%F0%9F%92%99", .malformedCursor), (text(7000), .malformedCursor), ("%00", .malformedEncoding),
            (made([1], 1, 1, radius: 5), .cursorMismatch),
        ])

    private static func kinds(_ count: Int) -> String {
        (1...count).map { "kind\($0)" }.joined(separator: ",")
    }

    private static func text(_ length: Int) -> String { String(repeating: "a", count: length) }

    /// A cursor with any distance, or with another number of them.
    private static func made(
        _ numbers: [Double], _ id: Int64, _ count: Int, radius: Double? = nil, revision: UInt8 = 1
    ) -> String {
        let request = NearbyPlacesRequest(
            center: try? Coordinate(latitude: 0, longitude: 0), radiusMeters: radius)
        return PageCursor(bytes: [revision], request, numbers, id, count).rawValue
    }
}

@Suite("A parameter pattern")
struct ParameterPatternTests {
    @Test("A pattern matches a whole name, or with a star the beginning of one")
    func matches() throws {
        let name = try #require(ParameterPattern("gclid"))
        #expect(name.matches("gclid".utf8))
        #expect(!name.matches("gclid2".utf8))
        #expect(!name.matches("gcli".utf8))
        let prefix = try #require(ParameterPattern("utm_*"))
        #expect(prefix.matches("utm_source".utf8))
        #expect(prefix.matches("utm_".utf8))
        #expect(!prefix.matches("utm".utf8))
        #expect(try #require(ParameterPattern("*")).matches("anything".utf8))
    }

    @Test(
        "A pattern with a star elsewhere, or an empty one, is refused", arguments: ["", "*utm", "a*b", "a**"])
    func refusesOtherForms(pattern: String) {
        #expect(ParameterPattern(pattern) == nil)
    }
}
