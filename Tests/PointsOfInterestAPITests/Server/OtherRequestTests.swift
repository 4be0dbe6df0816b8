import Foundation
import PointsOfInterestServerAPI
import Testing

@Suite("A location request")
struct PlaceRequestTests {
    @Test("A request for a place has its id in its path")
    func hasAPath() {
        #expect(PlaceRequest(id: 5).path == "/locations/5")
    }

    @Test(
        "A request is decoded as nil if its path has no possible id",
        arguments: [
            "", "0", "-1", "+1", "01", "1.0", "1e3", "abc", "9223372036854775808", " 1", "1 ", "１", "1\0",
            "0x1",
            String(repeating: "9", count: 7000),
        ])
    func isForNothing(id: String) throws {
        #expect(try PlaceRequest.decode(id: id, query: "".utf8) == nil)
    }

    @Test(
        "A request for a place is refused with all faults of its query",
        arguments: [
            ("lat=1", ["long missing-parameter"]), ("long=1", ["lat missing-parameter"]),
            ("lat=&long=x", ["lat empty-parameter", "long not-a-number"]),
            ("lat=-121.9&long=37", ["lat swapped-coordinates"]),
            ("lat=1&lat=1&long=0", ["lat repeated-parameter"]),
            ("limit=1", ["limit unknown-parameter"]),
            ("lat=90.1&long=180.1", ["lat out-of-range", "long out-of-range"]),
        ])
    func tellsFaults(query: String, faults: [String]) {
        let error = #expect(throws: ParameterError.self) {
            try PlaceRequest.decode(id: "1", query: query.utf8)
        }
        #expect(error?.faults.map { "\($0.parameter) \($0.code.rawValue)" } == faults)
    }
}

@Suite("A request without parameters")
struct NoParameterTests {
    @Test("A request without parameters may have those that a gateway adds")
    func ignoresGateways() throws {
        let ignored = [try #require(ParameterPattern("utm_*"))]
        try NoParameter.refuseAll(of: "".utf8)
        try NoParameter.refuseAll(of: "&utm_a=1&utm_a=2".utf8, ignoring: ignored)
    }

    @Test(
        "A request without parameters is refused with any other parameter",
        arguments: ["limit", "a", "%01", ""])
    func refusesOthers(name: String) {
        let error = #expect(throws: ParameterError.self) {
            try NoParameter.refuseAll(of: "\(name)=1".utf8)
        }
        #expect(error?.faults.map(\.code) == [.unknownParameter])
        #expect(error?.faults.map(\.detail) == ["is not known; this has no parameters"])
    }
}

@Suite("An attribution")
struct AttributionTests {
    @Test("An attribution is decoded as it was written")
    func roundTrips() throws {
        let attributions = [
            Attribution(dataset: "a \"b\"", license: "é", credit: "© c", url: "https://d.example", places: 3),
            Attribution(dataset: "b", license: "CC0-1.0", places: 1),
        ]
        var writer = JSONWriter()
        writer.value(attributions)
        #expect(try JSONDecoder().decode([Attribution].self, from: Data(writer.bytes)) == attributions)
    }
}

@Suite("A category's count")
struct CategoryCountTests {
    @Test("A category's count is decoded as it was written")
    func roundTrips() throws {
        let counts = [CategoryCount(name: "café \"x\"", count: 3), CategoryCount(name: "b", count: 0)]
        #expect(try JSONDecoder().decode([CategoryCount].self, from: Data(counts.json)) == counts)
        #expect(String(decoding: [CategoryCount]().json, as: UTF8.self) == "[]")
    }
}
