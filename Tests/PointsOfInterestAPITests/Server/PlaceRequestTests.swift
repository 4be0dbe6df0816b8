import PointsOfInterestAPI
import Foundation
import PointsOfInterestServerAPI
import Testing

@Suite("A locations request")
struct NearbyPlacesRequestTests {
    @Test("A request is encoded in a fixed order, without the options it doesn't have")
    func encodesInOrder() throws {
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 37.3293, longitude: -121.8893))
        #expect(request.encodedQuery == "lat=37.3293&long=-121.8893")
        request.limit = 5
        #expect(request.encodedQuery == "lat=37.3293&long=-121.8893&limit=5")
        request.radiusMeters = 250
        #expect(request.encodedQuery == "lat=37.3293&long=-121.8893&radius=250&limit=5")
        request.radiusMeters = nil
        request.box = BoundingBox(west: 170, south: -1.5, east: -170, north: 0)
        request.categories = ["museum", "cafe", "museum"]
        request.searchText = "café +&"
        request.featured = false
        request.cursor = PageCursor(rawValue: "A-_")
        #expect(
            request.encodedQuery == """
                lat=37.3293&long=-121.8893&limit=5&bbox=170%2C-1.5%2C-170%2C0&category=cafe%2Cmuseum\
                &q=caf%C3%A9%20%2B%26&featured=false&cursor=A-_
                """)
    }

    @Test("Places are ordered from the request's centre, or else from the middle of its box")
    func hasAnOrderCenter() throws {
        let box = try #require(BoundingBox(west: 0, south: 0, east: 2, north: 4))
        let center = try Coordinate(latitude: 5, longitude: 6)
        #expect(NearbyPlacesRequest(box: box).orderCenter == (try Coordinate(latitude: 2, longitude: 1)))
        #expect(NearbyPlacesRequest(center: center, box: box).orderCenter == center)
        #expect(NearbyPlacesRequest(center: center).orderCenter == center)
        #expect(NearbyPlacesRequest(center: nil).orderCenter == nil)
    }

    @Test("A plus sign is encoded as %2B")
    func encodesPlus() throws {
        let request = NearbyPlacesRequest(
            center: try Coordinate(latitude: 0, longitude: 0), radiusMeters: 1e21)
        #expect(request.encodedQuery == "lat=0&long=0&radius=1e%2B21")
    }

    @Test("A request is decoded from any collection of bytes")
    func readsAnyCollection() throws {
        let query = "lat=1.5&long=-2.5&radius=3e2&limit=100"
        let expected = NearbyPlacesRequest(
            center: try Coordinate(latitude: 1.5, longitude: -2.5), radiusMeters: 300, limit: 100)
        #expect(try NearbyPlacesRequest.decode(query: query.utf8) == expected)
        #expect(try NearbyPlacesRequest.decode(query: Array(query.utf8)) == expected)
        #expect(try NearbyPlacesRequest.decode(query: Array("?\(query)".utf8).dropFirst()) == expected)
        #expect(try NearbyPlacesRequest.decode(query: query.utf8.lazy.map { $0 }) == expected)
    }

    @Test(
        "Queries that are written differently and mean the same decode to the same request",
        arguments: [
            "lat=1&long=2", "long=2&lat=1", "lat=1.0&long=2.000", "lat=%31&long=2", "l%61t=1&lon%67=2",
            "&lat=1&&long=2&", "lat=10e-1&long=0.2E%2B1",
            "lat=%2B1&long=2", "lat=001&long=2e0",
        ])
    func readsEquivalentQueries(query: String) throws {
        let request = try NearbyPlacesRequest.decode(query: query.utf8)
        #expect(request == NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 2)))
    }

    @Test("Parameters are checked strictly beside those that a gateway adds")
    func ignoresWhatItIsTold() throws {
        let ignored = try ["utm_*", "fbclid"].map { try #require(ParameterPattern($0)) }
        let query = "utm_source=a&lat=1&utm_medium=%zz&long=2&fbclid&utm_source=b&fbclid=%00"
        let request = try NearbyPlacesRequest.decode(query: query.utf8, ignoring: ignored)
        #expect(request.center == (try Coordinate(latitude: 1, longitude: 2)))
        #expect(throws: ParameterError.self) {
            try NearbyPlacesRequest.decode(query: "lat=1&long=2&fbclid2=3".utf8, ignoring: ignored)
        }
        #expect(throws: ParameterError.self) {
            try NearbyPlacesRequest.decode(query: query.utf8)
        }
    }
}

@Suite("A location request")
struct PlaceRequestTests {
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
