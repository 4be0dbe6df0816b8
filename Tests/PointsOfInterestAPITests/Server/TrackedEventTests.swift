import Foundation
import Testing

@testable import PointsOfInterestServerAPI

@Suite("A tracked event")
struct TrackedEventTests {
    /// As the app has always logged it.
    static let seed = """
        {"user_id": "F3476B52-160D-4CB9-9022-DE3B34E732EC", "time": 1536753250.92, "event": {"name": "page-view", \
        "value": {"page": "location-detail", "additional": "42"}}}
        """

    static let seedEvent = TrackedEvent(
        id: nil, userID: "F3476B52-160D-4CB9-9022-DE3B34E732EC", time: 1536753250.92,
        event: .pageView(page: .locationDetail, additional: "42"))

    @Test("An event in the app's shape is decoded with all of its values")
    func decodesSeed() throws {
        let event = try JSONDecoder().decode(TrackedEvent.self, from: Data(Self.seed.utf8))
        #expect(event == Self.seedEvent)
        let received = try #require(
            try EventsRequest.decode(body: Array("[\(Self.seed)]".utf8)).first)
        #expect(received.id == nil)
        #expect(received.userID == Self.seedEvent.userID)
        #expect(received.time == Self.seedEvent.time)
        #expect(received.name == "page-view")
        #expect(
            String(decoding: received.value, as: UTF8.self)
                == #"{"page": "location-detail", "additional": "42"}"#)
        #expect(received.isKnown)
        #expect(!received.isTest)
    }

    @Test("An event is written in the app's shape to the byte, but for the order of its members")
    func encodesSeed() throws {
        // The writer's own order, and no blanks behind colons and commas.
        let expected = """
            {"user_id":"F3476B52-160D-4CB9-9022-DE3B34E732EC","time":1536753250.92,"event":{"name":"page-view",\
            "value":{"additional":"42","page":"location-detail"}}}
            """
        #expect(String(decoding: Self.seedEvent.json, as: UTF8.self) == expected)
    }

    @Test(
        "An event of every kind reads back the same",
        arguments: [
            .launch, .background, .pageView(page: "of a newer app"),
            .search(query: "café \"x\"\n\u{1F600}", page: 2),
            .search(query: "cafe", page: 1, results: 0), .featuredShown, .featuredShown(place: 42),
            .locationCheck, .notification(identifier: "n1"),
            .other(
                EventContent(
                    name: "new",
                    value: ["list": .array([.null, 1, 2.5, true, .object(["a": "b"])]), "é": .null])),
        ] as [TrackingEvent])
    func roundTrips(event: TrackingEvent) throws {
        let tracked = TrackedEvent(userID: "u", time: 1_700_000_000, event: event, isTest: true)
        #expect(try JSONDecoder().decode(TrackedEvent.self, from: Data(tracked.json)) == tracked)
        let received = try EventsRequest.decode(body: EventsRequest(events: [tracked]).encode())
        #expect(received.map(\.id) == [tracked.id])
        #expect(received.map(\.isTest) == [true])
        #expect(received.first?.name == event.content.name)
    }

    @Test("An event with a name or values that its type doesn't have is kept as it is")
    func keepsUnknown() throws {
        for json in [
            #"{"name":"checkout","value":{"items":3}}"#, #"{"name":"launch","value":{"reason":"link"}}"#,
            #"{"name":"page-view"}"#, #"{"name":"page-view","value":{"page":"a","additional":null}}"#,
            #"{"name":"search","value":{"query":"a","page":"1"}}"#,
        ] {
            let content = try JSONDecoder().decode(EventContent.self, from: Data(json.utf8))
            #expect(TrackingEvent(content) == .other(content))
            #expect(TrackingEvent(content).content == content)
        }
    }

    @Test("An event has an id of its own unless another one is given")
    func makesIDs() {
        let events = (0..<2).map { _ in TrackedEvent(userID: "u", time: 0, event: .launch) }
        #expect(events[0].id != nil)
        #expect(events[0].id != events[1].id)
    }
}
