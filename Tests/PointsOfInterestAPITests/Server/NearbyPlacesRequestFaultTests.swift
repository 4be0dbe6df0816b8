import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import Testing

@Suite("A faulty locations request")
struct NearbyPlacesRequestFaultTests {
    /// What is refused, and why: every fault as `parameter code`.
    private static let rows: [(query: String, faults: [String])] = [
        // Nothing there.
        ("", ["lat missing-parameter", "long missing-parameter"]),
        ("&&&", ["lat missing-parameter", "long missing-parameter"]),
        ("lat=1", ["long missing-parameter"]),
        ("long=1&limit=5", ["lat missing-parameter"]),
        // Just outside.
        ("lat=90.00000000000002&long=180", ["lat out-of-range"]),
        ("lat=-91&long=-121.8893", ["lat out-of-range"]),
        ("lat=0&long=-181", ["long out-of-range"]),
        ("lat=181&long=181", ["lat out-of-range", "long out-of-range"]),
        // Far outside.
        (
            "lat=0&long=0&radius=1e400&limit=9223372036854775808",
            ["radius out-of-range", "limit out-of-range"]
        ),
        ("lat=0&long=0&limit=-9223372036854775809", ["limit out-of-range"]),
        ("lat=0&long=0&limit=\(String(repeating: "9", count: 5000))", ["limit out-of-range"]),
        ("lat=1e99999999999999999999&long=0", ["lat out-of-range"]),
        ("lat=\(String(repeating: "9", count: 5000))&long=0", ["lat out-of-range"]),
        // Empty.
        ("lat=&long=", ["lat empty-parameter", "long empty-parameter"]),
        // Repeated.
        ("lat=1&long=2&long=3&long=4", ["long repeated-parameter"]),
        ("lat=abc&lat=1&long=2", ["lat repeated-parameter", "lat not-a-number"]),
        // Garbage.
        (
            "lat=abc&long=NaN&radius=inf&limit=x",
            ["lat not-a-number", "long not-a-number", "radius not-a-number", "limit not-an-integer"]
        ),
        ("lat=0x10&long=1.&limit=1.0", ["lat not-a-number", "long not-a-number", "limit not-an-integer"]),
        ("lat=.5&long=1e&limit=1e1", ["lat not-a-number", "long not-a-number", "limit not-an-integer"]),
        ("lat=1,5&long=--1&limit=--1", ["lat not-a-number", "long not-a-number", "limit not-an-integer"]),
        ("lat=+1&long=1+", ["lat not-a-number", "long not-a-number"]),
        ("lat=%201&long=1%0A", ["lat not-a-number", "long not-a-number"]),
        ("lat=%D9%A3&long=1e1.5", ["lat not-a-number", "long not-a-number"]),
        ("lat=-&long=%2B&limit=-", ["lat not-a-number", "long not-a-number", "limit not-an-integer"]),
        ("lat=1=1&long=2", ["lat not-a-number"]),
        // Swapped.
        ("lat=-121.8893&long=37.3293", ["lat swapped-coordinates"]),
        ("lat=180&long=-90", ["lat swapped-coordinates"]),
        ("lat=-121.8893&long=90.1", ["lat out-of-range"]),
        // Unknown.
        ("lat=1&lon=2", ["lon unknown-parameter", "long missing-parameter"]),
        ("lat=1&long=2&x=3&x=4&y=5", ["x unknown-parameter", "y unknown-parameter"]),
        ("lat=1&long=2&=3", [" unknown-parameter"]),
        // Broken encoding.
        ("lat=%zz&long=2", ["lat malformed-encoding"]),
        ("lat=1&long=%", ["long malformed-encoding"]),
        ("lat=1&long=2%2", ["long malformed-encoding"]),
        ("lat=1&long=%+1", ["long malformed-encoding"]),
        ("lat=%FF&long=%C3%28", ["lat malformed-encoding", "long malformed-encoding"]),
        ("lat=%ED%A0%80&long=%C0%80", ["lat malformed-encoding", "long malformed-encoding"]),
        (
            "lat=1%00&long=2\0&limit=%00",
            ["lat malformed-encoding", "long malformed-encoding", "limit malformed-encoding"]
        ),
        ("lat=1&long=2&l%zz=3", ["l%zz malformed-encoding"]),
    ]

    @Test("A faulty query is refused with all of its faults, each with its parameter", arguments: rows)
    func tellsEveryFault(query: String, faults: [String]) {
        #expect(self.faults(of: query) == faults)
    }

    @Test("A category that is longer than any name is refused before it is compared")
    func longCategories() {
        // Without a vocabulary any name goes, but no name is that long.
        let name = String(repeating: "a", count: 100)
        #expect(faults(of: "lat=0&long=0&category=\(name)") == [])
        #expect(faults(of: "lat=0&long=0&category=\(name)a") == ["category unknown-category"])
    }

    @Test("The fault of an unknown parameter suggests the nearest name")
    func namesTheNearest() throws {
        for (unknown, known) in [
            ("lon", "long"), ("lng", "long"), ("longitude", "long"), ("LIMIT", "limit"),
            ("latitude", "lat"), ("rad", "radius"), ("radious", "radius"), ("limits", "limit"),
            ("box", "bbox"), ("categories", "category"), ("catagory", "category"), ("query", "q"),
            ("feature", "featured"), ("curser", "cursor"),
        ] {
            let error = #expect(throws: ParameterError.self) {
                try NearbyPlacesRequest.decode(query: "lat=1&long=2&\(unknown)=3".utf8)
            }
            #expect(error?.faults.first?.detail == "is not known; did you mean \(known)?")
        }
        let error = #expect(throws: ParameterError.self) {
            try NearbyPlacesRequest.decode(query: "lat=1&long=2&color=3".utf8)
        }
        #expect(
            error?.faults.first?.detail
                == "is not known; known are lat, long, radius, limit, bbox, category, dataset, q, featured, properties, lang, cursor, ids, sort, near, property.NAME"
        )
    }

    @Test("The error has its faults' code if they share one")
    func sharesACode() {
        func code(_ query: String) -> ProblemCode? {
            #expect(throws: ParameterError.self) { try NearbyPlacesRequest.decode(query: query.utf8) }?.code
        }
        #expect(code("lat=-121.8893&long=37.3293") == .swappedCoordinates)
        #expect(code("lat=&long=") == .emptyParameter)
        #expect(code("lat=91&long=") == .invalidParameters)
    }

    @Test("A query with invalid UTF-8 is refused, also as raw bytes")
    func refusesRawBytes() {
        let error = #expect(throws: ParameterError.self) {
            try NearbyPlacesRequest.decode(query: Array("lat=1&long=2&limit=".utf8) + [0xFF, 0x31])
        }
        #expect(error?.faults.map(\.code) == [.malformedEncoding])
    }

    @Test("A query is read only up to its hundredth parameter, to bound the work")
    func boundsTheWork() {
        let names = (0..<3000).map { "parameter\($0)=" }
        let faults = self.faults(of: names.joined(separator: "&"))
        #expect(faults.count == 103)
        #expect(faults[100] == "parameter100 too-many-parameters")
        #expect(self.faults(of: "lat=1&long=2" + String(repeating: "&limit=1", count: 98)).count == 1)
    }

    @Test("A long name is shortened in its fault")
    func shortensNames() {
        let name = String(repeating: "é", count: 5000)
        #expect(faults(of: "lat=1&long=2&\(name)=3").allSatisfy { $0.utf8.count < 100 })
    }

    @Test("A query of any bytes is refused or read, and never a crash")
    func survivesMutations() throws {
        var random = SeededGenerator()
        let center = try Coordinate(latitude: 0, longitude: 0)
        let cursor = PageCursor(
            PagePosition(distanceMeters: 1, id: 1, count: 1), in: NearbyPlacesRequest(center: center))
        let valid = [
            "lat=37.3293&long=-121.8893&radius=2.5e%2B3&limit=20",
            "bbox=170,-10.5,-1.7e%2B2,10&category=cafe,bar&q=caf%C3%A9+x&featured=true",
            "lat=0&long=0&cursor=\(cursor.rawValue)&limit=1",
        ].map { Array($0.utf8) }
        let interesting = Array("%&=+-.,eE0929\0\u{7F}".utf8) + [0x80, 0xC3, 0xED, 0xFF]
        for _ in 0..<50_000 {
            var query = valid.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let position = Int.random(in: 0..<query.count, using: &random)
                let byte =
                    Bool.random(using: &random)
                    ? interesting.randomElement(using: &random) ?? 0
                    : UInt8.random(in: 0...255, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: query[position] = byte
                case 1: query.insert(byte, at: position)
                default: query.removeSubrange(position..<min(position + 3, query.count))
                }
            }
            do {
                let request = try NearbyPlacesRequest.decode(query: query)
                #expect(
                    try NearbyPlacesRequest.decode(query: request.encodedQuery.utf8)
                        == request)
            } catch {
                #expect(!error.faults.isEmpty)
            }
        }
    }

    private func faults(of query: String) -> [String] {
        do {
            _ = try NearbyPlacesRequest.decode(query: query.utf8)
            return []
        } catch {
            return error.faults.map { "\($0.parameter) \($0.code.rawValue)" }
        }
    }
}
