import Foundation
import Randomness
import Testing

@testable import PointsOfInterestServerAPI

/// What the client's side encodes, the server's side decodes: for random values of every endpoint's request.
@Suite("Every endpoint's request")
struct RoundTripTests {
    @Test("A request that is encoded and decoded is the same as before")
    func comesBack() throws {
        var random = SeededGenerator()
        for _ in 0..<3000 {
            let places = RandomRequest.nearbyPlaces(using: &random)
            try expectSame(places)
            try expectSame(RandomRequest.position(using: &random), in: places)
            try expectSame(RandomRequest.place(using: &random))
        }
        var names: Set<String> = []
        for _ in 0..<300 {
            let events = RandomRequest.events(using: &random)
            try expectSame(events)
            names.formUnion(events.events.map(\.event.content.name))
        }
        #expect(names.isSuperset(of: EventCatalog.builtIn.definitions.map(\.name)))
    }

    private func expectSame(_ request: NearbyPlacesRequest) throws {
        let query = request.encodedQuery
        #expect(try NearbyPlacesRequest.decode(query: query.utf8) == request, "\(query)")
    }

    /// The cursor names the page's end in a request with this cursor, to the last bit of the distance.
    private func expectSame(_ end: PagePosition, in request: NearbyPlacesRequest) throws {
        var request = request
        request.cursor = PageCursor(end, in: request)
        let query = request.encodedQuery
        let decoded = try NearbyPlacesRequest.decode(query: query.utf8)
        #expect(decoded == request, "\(query)")
        #expect(decoded.start == end, "\(query)")
    }

    private func expectSame(_ request: PlaceRequest) throws {
        let id = try #require(request.path.split(separator: "/").last)
        let query = request.encodedQuery
        #expect(try PlaceRequest.decode(id: String(id), query: query.utf8) == request, "\(query)")
    }

    private func expectSame(_ request: EventsRequest) throws {
        let body = request.encode()
        let received = try EventsRequest.decode(body: body)
        try #require(received.count == request.events.count)
        for (sent, event) in zip(request.events, received) {
            let content = sent.event.content
            #expect(event.id == sent.id)
            #expect(event.userID == sent.userID)
            #expect(event.time.bitPattern == sent.time.bitPattern)
            #expect(event.isTest == sent.isTest)
            #expect(event.name == content.name)
            let value = try event.value.withUnsafeBufferPointer { bytes in
                bytes.isEmpty ? .object([:]) : try JSONValue(json: bytes)
            }
            #expect(
                value == .object(JSONValue.Object(content.value)), "\(String(decoding: body, as: UTF8.self))")
        }
    }
}

extension RandomRequest {
    static func position(using random: inout SeededGenerator) -> PagePosition {
        PagePosition(
            distanceMeters: .random(in: 0...NearbyPlacesRequest.maximumRadiusMeters, using: &random),
            id: .random(in: .min ... .max, using: &random),
            count: Int(UInt32.random(in: 0 ... .max, using: &random)))
    }
}
