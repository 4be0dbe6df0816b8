import PointsOfInterestAPI
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
            try expectSame(RandomRequest.position(in: places, using: &random), in: places)
            try expectSame(RandomRequest.place(using: &random))
            try expectSame(RandomRequest.placesByID(using: &random))
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
        #expect(try JSONDecoder().decode([TrackedEvent].self, from: Data(body)) == request.events)
        let received = try EventsRequest.decode(body: body)
        try #require(received.count == request.events.count)
        for (sent, event) in zip(request.events, received) {
            let content = sent.event.content
            #expect(event.id == sent.id)
            #expect(event.userID == sent.userID)
            #expect(event.time.bitPattern == sent.time.bitPattern)
            #expect(event.isTest == sent.isTest)
            #expect(event.name == content.name)
            let value = event.value.isEmpty ? .object([:]) : try JSONValue(json: Array(event.value))
            #expect(
                value == .object(JSONValue.Object(content.value)), "\(String(decoding: body, as: UTF8.self))")
        }
    }
}

extension RandomRequest {
    /// A position in the order of a request.
    static func position(
        in request: NearbyPlacesRequest, using random: inout SeededGenerator
    ) -> PagePosition {
        let relevance = RelevanceClass.allCases.randomElement(using: &random)
        let importance = UInt16.random(in: 0...1000, using: &random)
        return PagePosition(
            rank: request.sort == nil
                ? nil
                : relevance.map {
                    RelevanceRank(
                        $0, importance: importance, isNear: .random(using: &random),
                        leavesOut: .random(using: &random))
                },
            distanceMeters: .random(in: 0...NearbyPlacesRequest.maximumRadiusMeters, using: &random),
            id: .random(in: .min ... .max, using: &random),
            count: Int(UInt32.random(in: 0 ... .max, using: &random)))
    }
}

@Suite("A stable hash")
struct StableHashTests {
    @Test(
        "The hash has the values that FNV-1a's authors publish",
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("b", 0xaf63_df4c_8601_f1a5),
            ("foobar", 0x8594_4171_f739_67e8), ("hello", 0xa430_d846_80aa_bd0b),
        ] as [(String, UInt64)])
    func hasKnownValues(text: String, hash: UInt64) {
        #expect(StableHash.hash(text.utf8) == hash)
    }

    @Test("A hash that begins with another hash is that of both texts joined")
    func continues() {
        #expect(
            StableHash.hash("bar".utf8, seed: StableHash.hash("foo".utf8)) == StableHash.hash("foobar".utf8))
    }
}
