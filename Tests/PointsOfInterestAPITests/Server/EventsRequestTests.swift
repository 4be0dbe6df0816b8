import PointsOfInterestAPI
import Foundation
import Testing

@testable import PointsOfInterestServerAPI

@Suite("A batch of events")
struct EventsRequestTests {
    @Test(
        "A batch that isn't a JSON array is refused as a whole",
        arguments: [
            "", " ", "{}", "1", "null", "\"[]\"", "[", "[{]", "[{}", "[{},]", "[,]", "[{}{}]", "[] []",
            "[{\"id\"}]",
            "[{\"id\":}]", "[{\"id\" 1}]", "[{id:1}]", "[tru]", "[nul", "[NaN]", "[Infinity]", "[01]", "[1.]",
            "[.5]",
            "[+1]", "[-]", "[1e]", "[1e+]", "[\"\\x\"]", "[\"\\u12\"]", "[\"\\u12g4\"]", "[\"", "[\"\\",
            "[\"\\u",
            "[\u{feff}]", "[\0]", "[//\n]", "[1]\0",
        ])
    func refusesOther(body: String) throws {
        let error = try #require(
            #expect(throws: EventsError.self) { try EventsRequest.decode(body: Array(body.utf8)) })
        guard case .malformed(let reason) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(reason.contains("at byte"))
    }

    @Test("A batch with too many events is refused, however small they are")
    func countsEvents() throws {
        let many = "[" + Array(repeating: "1", count: 1001).joined(separator: ",") + "]"
        #expect(throws: Self.tooMany) { try EventsRequest.decode(body: Array(many.utf8)) }
        #expect(throws: EventsError.tooLarge(reason: "a batch has at most 1048576 bytes")) {
            try EventsRequest.decode(body: [UInt8](repeating: UInt8(ascii: " "), count: 1_048_577))
        }
    }

    @Test("A batch with too many events isn't read beyond the first one too many")
    func endsAtTheFirstTooMany() {
        let many = "[" + String(repeating: "{},", count: 1000) + "this is no JSON"
        #expect(throws: Self.tooMany) { try EventsRequest.decode(body: Array(many.utf8)) }
        let enough = "[" + String(repeating: "{},", count: 999) + "this is no JSON"
        let error = EventsError.malformed(
            reason: "the body is not JSON: there should be a value at byte 2998")
        #expect(throws: error) { try EventsRequest.decode(body: Array(enough.utf8)) }
    }

    private static let tooMany = EventsError.tooLarge(
        reason: "a batch has at most 1000 events, this one has more")

    @Test("A batch with bad events is refused with the index of each")
    func namesFaults() throws {
        let good = String(decoding: TrackedEvent(userID: "u", time: 1, event: .launch).json, as: UTF8.self)
        let bodies = [
            good, "7", good, #"{"user_id":"u","time":"now","event":{"name":"launch"}}"#, "{}", good,
        ]
        let error = try #require(
            #expect(throws: EventsError.self) {
                try EventsRequest.decode(body: Array("[\(bodies.joined(separator: ","))]".utf8))
            })
        guard case .invalid(let faults) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(
            faults == [
                EventFault(index: 1, code: .notAnEvent, detail: "must be an object"),
                EventFault(index: 3, code: .wrongType, detail: "must be a number", parameter: "time"),
                EventFault(index: 4, code: .missing, detail: "must be given", parameter: "user_id"),
                EventFault(index: 4, code: .missing, detail: "must be given", parameter: "time"),
                EventFault(index: 4, code: .missing, detail: "must be given", parameter: "event"),
            ])
        let problem = Problem(error, requestId: "r")
        #expect(problem.status == 422)
        #expect(problem.detail == "3 events are refused")
        #expect(try JSONDecoder().decode(Problem.self, from: Data(problem.json)) == problem)
        #expect(try JSONDecoder().decode(Problem.self, from: JSONEncoder().encode(problem)) == problem)
    }

    @Test(
        "A batch with many bad events is refused with the first hundred indexes",
        arguments: [99, 100, 101, 500])
    func namesAHundred(count: Int) throws {
        let good = String(decoding: TrackedEvent(userID: "u", time: 1, event: .launch).json, as: UTF8.self)
        let body = "[" + Array(repeating: "\(good),7", count: count).joined(separator: ",") + "]"
        let error = try #require(
            #expect(throws: EventsError.self) { try EventsRequest.decode(body: Array(body.utf8)) })
        guard case .invalid(let faults) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(faults.map(\.index) == (0..<min(count, 100)).map { 2 * $0 + 1 })
        #expect(Problem(error).detail == (count < 100 ? "99" : "at least 100") + " events are refused")
    }
}

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
}
