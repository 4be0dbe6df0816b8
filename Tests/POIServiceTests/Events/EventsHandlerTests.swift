import PointsOfInterestServerAPI
import Foundation
import HTTPServer
import Hashing
import MockService
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Places

/// A store of events that fails with a given error.
private final class FailingEventStore: EventStore {
    private let error: EventStoreError

    init(_ error: EventStoreError) { self.error = error }

    func store(_ events: [StoredEvent]) async throws(EventStoreError) -> EventsResponse { throw error }

    func close() async {}
}

@Suite("POST /events")
struct EventsHandlerTests {
    private static let json: HTTPHeaders = [.contentType: "application/json"]
    private static let launch = #"{"user_id":"u","time":1.5,"event":{"name":"launch"}}"#

    private static func event(_ number: Int, name: String = "launch", userID: String = "u") -> String {
        let id = "00000000-0000-4000-8000-" + String(format: "%012d", number)
        return #"{"id":"\#(id)","user_id":"\#(userID)","time":\#(number).25,"event":{"name":"\#(name)"}}"#
    }

    private static func batch(_ events: [String]) -> [UInt8] {
        Array("[\(events.joined(separator: ","))]".utf8)
    }

    private static func post(
        _ body: [UInt8], _ headers: HTTPHeaders = Self.json, to site: ServiceSite
    ) async throws -> HTTPResponse {
        try await site.ask("/events", .post, headers: headers, body: body)
    }

    private static func answer(_ response: HTTPResponse) throws -> EventsResponse {
        #expect(response.status == .ok)
        return try JSONDecoder().decode(EventsResponse.self, from: Data(response.body))
    }

    @Test("A batch is stored, and the response has the numbers of new events and duplicates")
    func stored() async throws {
        let store = MemoryEventStore()
        let site = try ServiceSite(events: store)
        let first = try await Self.post(Self.batch((1...3).map { Self.event($0) }), to: site)
        #expect(first.text == #"{"accepted":3,"duplicates":0}"#)
        #expect(first.headers.first(.contentType) == "application/json")
        #expect(first.headers.first(.cacheControl) == "no-store")
        let second = try await Self.post(Self.batch((2...5).map { Self.event($0) }), to: site)
        #expect(try Self.answer(second) == EventsResponse(accepted: 2, duplicates: 2))
        let times: [Int64] = [1_250_000, 2_250_000, 3_250_000, 4_250_000, 5_250_000]
        #expect(store.events.map(\.key.timeMicroseconds) == times)
        #expect(store.events.map(\.userID) == Array(repeating: "u", count: 5))
        #expect(store.events.map(\.name) == Array(repeating: "launch", count: 5))
        #expect(store.events.map(\.value) == Array(repeating: Array("{}".utf8)[...], count: 5))
    }

    @Test("Exactly the events that are marked as tests are stored as tests")
    func testMark() async throws {
        let store = MemoryEventStore()
        let marked = Self.event(2).replacing("}}", with: #"},"test":true}"#)
        let response = try await Self.post(
            Self.batch([Self.event(1), marked]), to: ServiceSite(events: store))
        #expect(try Self.answer(response) == EventsResponse(accepted: 2, duplicates: 0))
        #expect(store.events.map(\.isTest) == [false, true])
    }

    @Test(
        "Metrics count new events, duplicates, unknown names and refused batches")
    func counts() async throws {
        let site = try ServiceSite()
        let good = Self.batch([Self.event(1), Self.event(2), Self.event(3, name: "of-a-newer-app")])
        let bodies = [
            good, good, Self.batch([Self.event(4)]), Self.batch(["7"]), Self.batch([]), Array("{".utf8),
        ]
        for body in bodies { _ = try await Self.post(body, to: site) }
        let counts = site.metrics.filter { $0.key.hasPrefix("poi_events_") }
        #expect(
            counts == [
                "poi_events_accepted_total": 4, "poi_events_duplicate_total": 3,
                "poi_events_unknown_name_total": 2, "poi_events_batches_refused_total": 2,
            ])
    }

    @Test("An empty batch is accepted")
    func empty() async throws {
        let site = try ServiceSite(events: FailingEventStore(.busy))
        let response = try await Self.post(Array(" [ ] ".utf8), to: site)
        #expect(try Self.answer(response) == EventsResponse(accepted: 0, duplicates: 0))
    }

    @Test("A batch with one bad event is refused, and each fault is named by its index")
    func faults() async throws {
        let store = MemoryEventStore()
        let bad = [
            Self.event(0), #"{"user_id":"u","time":"now","event":{"name":"launch"}}"#, "7",
            #"{"user_id":"u\u0000","time":1,"event":{"name":"launch"}}"#,
        ]
        let response = try await Self.post(Self.batch(bad), to: ServiceSite(events: store))
        #expect(response.status.code == 422)
        let problem = try response.problem()
        #expect(problem.code == .invalidEvents)
        #expect(problem.eventErrors.map(\.index) == [1, 2, 3])
        #expect(problem.eventErrors.map(\.code) == [.wrongType, .notAnEvent, .malformedText])
        #expect(store.events.isEmpty)
    }

    @Test("A body that isn't a JSON array of events is 400, and too many events are 413")
    func malformed() async throws {
        let site = try ServiceSite()
        for body in [
            "", "{}", "[", "[\(Self.launch)", "[\(Self.launch)]x", "[\(Self.launch),]", "\u{FEFF}[]",
        ] {
            let problem = try await Self.post(Array(body.utf8), to: site)
                .problem()
            #expect(problem.status == 400, "\(body)")
            #expect(problem.code == .malformedBody, "\(body)")
        }
        let many = Self.batch(Array(repeating: Self.launch, count: EventLimits.events + 1))
        #expect(try await Self.post(many, to: site).problem().code == .contentTooLarge)
        let most = Self.batch(Array(repeating: Self.launch, count: EventLimits.events))
        let answer = try Self.answer(try await Self.post(most, to: site))
        #expect(answer == EventsResponse(accepted: EventLimits.events, duplicates: 0))
    }

    @Test("A gzip body is accepted, and one whose content is too large is 413")
    func gzip() async throws {
        let site = try ServiceSite()
        var headers = Self.json
        headers.add(.contentEncoding, "gzip")
        func coded(_ plain: [UInt8]) throws -> [UInt8] {
            var response = HTTPResponse(.ok, body: plain)
            try ResponseCompression(minimumBytes: 0).apply(
                to: &response, for: HTTPRequest(method: .get, target: "/", headers: [.acceptEncoding: "gzip"])
            )
            return response.body
        }
        let body = try coded(Self.batch((1...50).map { Self.event($0) }))
        let response = try await Self.post(body, headers, to: site)
        #expect(try Self.answer(response) == EventsResponse(accepted: 50, duplicates: 0))
        let bomb = try coded([UInt8](repeating: UInt8(ascii: " "), count: EventLimits.bodyBytes + 1))
        #expect(try await Self.post(bomb, headers, to: site).problem().code == .contentTooLarge)
        #expect(try await Self.post([1, 2], headers, to: site).problem().code == .badRequest)
    }

    @Test("A batch with another media type or coding gets a 415 with the accepted ones")
    func unsupported() async throws {
        let site = try ServiceSite()
        for type in ["text/plain", "application/jsonl", "application/json, text/plain", ""] {
            let response = try await Self.post(Self.batch([]), [.contentType: type], to: site)
            #expect(response.status == .unsupportedMediaType, "\(type)")
            #expect(try response.problem().code == .unsupportedMediaType)
            #expect(response.headers.first(.accept) == "application/json")
        }
        for type in ["application/json;charset=utf-8", "Application/JSON ; a=b"] {
            let response = try await Self.post(Self.batch([]), [.contentType: type], to: site)
            #expect(response.status == .ok, "\(type)")
        }
        let untyped = try await site.ask("/events", .post, body: Self.batch([]))
        #expect(untyped.status == .unsupportedMediaType, "a page's script may send it without a preflight")
        var headers = Self.json
        headers.add(.contentEncoding, "br")
        let response = try await Self.post(Self.batch([]), headers, to: site)
        #expect(try response.problem().code == .unsupportedContentEncoding)
        #expect(response.headers.first(.acceptEncoding) == "gzip, identity")
    }

    @Test("A request with another method gets a 405, and one with parameters is refused")
    func requests() async throws {
        let site = try ServiceSite()
        for method in [HTTPMethod.get, .head, .put, .delete] {
            let response = try await site.ask("/events", method)
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers.first(.allow) == "OPTIONS, POST")
        }
        let problem = try await site.ask("/events?a=b", .post, headers: Self.json, body: Self.batch([]))
            .problem()
        #expect(problem.code == .unknownParameter)
        var headers = Self.json
        headers.add(.accept, "text/html")
        #expect(try await Self.post(Self.batch([]), headers, to: site).status == .notAcceptable)
    }

    @Test(
        "An unavailable store is 503 with Retry-After, a failing one 500",
        arguments: [
            (EventStoreError.unavailable(reason: "gone"), ProblemCode.databaseUnavailable, 503),
            (.busy, .databaseBusy, 503), (.failed(reason: "broken"), .internalError, 500),
        ])
    func failures(error: EventStoreError, code: ProblemCode, status: Int) async throws {
        let site = try ServiceSite(events: FailingEventStore(error))
        let response = try await Self.post(Self.batch([Self.launch]), to: site)
        #expect(response.status.code == status)
        #expect(try response.problem().code == code)
        #expect((response.headers.first(.retryAfter) != nil) == (status == 503))
    }

    @Test("No precondition holds, since nothing at the path can match", arguments: ["*", "\"x\""])
    func ifMatch(field: String) async throws {
        let store = MemoryEventStore()
        let site = try ServiceSite(events: store)
        var headers = Self.json
        headers.add(.ifMatch, field)
        let response = try await Self.post(Self.batch([Self.event(1)]), headers, to: site)
        #expect(response.status == .preconditionFailed)
        #expect(store.events.isEmpty)
    }

    @Test("Keys for events and keys for data aren't interchangeable")
    func keys() async throws {
        let (dataKey, eventKey) = ("data-key-0123456789", "event-key-0123456789")
        let site = try ServiceSite(environment: [
            "POI_API_KEYS": dataKey, "POI_EVENTS_KEYS": "another-key-0123456,\(eventKey)",
        ])
        func status(_ key: String?, _ target: String, _ method: HTTPMethod) async throws -> Int {
            var headers = method == .post ? Self.json : [:]
            if let key { headers.add(.authorization, "Bearer \(key)") }
            return try await site.ask(
                target, method, headers: headers, body: method == .post ? Self.batch([]) : []
            )
            .status.code
        }
        #expect(try await status(eventKey, "/events", .post) == 200)
        #expect(try await status(dataKey, "/events", .post) == 401)
        #expect(try await status(nil, "/events", .post) == 401)
        #expect(try await status(dataKey, "/categories", .get) == 200)
        #expect(try await status(eventKey, "/categories", .get) == 401)
        let open = try ServiceSite(environment: ["POI_API_KEYS": dataKey])
        #expect(try await Self.post(Self.batch([]), to: open).status == .ok)
    }
}

@Suite("Events before they are stored")
struct EventAdmissionTests {
    private static let key = [UInt8]("0123456789abcdef0123456789abcdef".utf8)

    private static func event(
        id: UUID? = nil, userID: String = "user", time: Double = 1.5, name: String = "launch",
        value: String = "", isTest: Bool = false
    ) -> ReceivedEvent {
        ReceivedEvent(
            id: id, userID: userID, time: time, name: name, value: ArraySlice(value.utf8), isTest: isTest)
    }

    private static func stored(_ event: ReceivedEvent, key: [UInt8]? = nil) throws -> StoredEvent {
        try #require(EventAdmission(userIDHash: key.map { HMAC(key: $0) }).admit([event]).first)
    }

    @Test("Users' ids stay as they are if there is no key")
    func plain() throws {
        #expect(try Self.stored(Self.event(userID: "F3476B52")).userID == "F3476B52")
    }

    @Test("A user's id becomes its HMAC-SHA-256 if there is a key, the same for each event")
    func hashed() throws {
        let events = ["a", "a", "b", "a", ""].map { Self.event(userID: $0) }
        let stored = EventAdmission(userIDHash: HMAC(key: Self.key)).admit(events).map(\.userID)
        // printf a | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
        #expect(stored[0] == Self.hashOfA)
        #expect(stored[1] == stored[0] && stored[3] == stored[0])
        #expect(Set(stored).count == 3)
        #expect(stored.allSatisfy { $0.utf8.count == 64 })
    }

    private static let hashOfA = "aa2187723645a252148bbf3aad0e20d4c3a2861235bb65a264967af9d46faec2"

    @Test(
        "Times are rounded to microseconds, as in PostgreSQL",
        arguments: [
            (1_536_753_250.92, 1_536_753_250_920_000), (0.0000004, 0), (-1.25, -1_250_000),
            (EventLimits.times.upperBound, 9_000_000_000_000_000_000),
        ] as [(Double, Int64)])
    func time(seconds: Double, microseconds: Int64) throws {
        #expect(try Self.stored(Self.event(time: seconds)).key.timeMicroseconds == microseconds)
    }

    @Test("An app's id is kept; events without one get the same id if they are equal, else different ones")
    func derivedIDs() throws {
        let id = UUID()
        #expect(try Self.stored(Self.event(id: id)).key.id == id)
        let event = Self.event(userID: "ab", name: "page-view", value: #"{"page":"x"}"#)
        let derived = try Self.stored(event).key.id
        #expect(try Self.stored(event).key.id == derived)
        let others = [
            Self.event(userID: "a", name: "page-view", value: #"{"page":"x"}"#),
            Self.event(userID: "abp", name: "age-view", value: #"{"page":"x"}"#),
            Self.event(userID: "ab", time: 1.500001, name: "page-view", value: #"{"page":"x"}"#),
            Self.event(userID: "ab", name: "page-view", value: #"{"page":"y"}"#),
            Self.event(userID: "ab", name: "page-view"),
            Self.event(userID: "ab", name: "page-view", value: #"{"page":"x"}"#, isTest: true),
        ]
        let ids = try others.map { try Self.stored($0).key.id }
        #expect(Set(ids + [derived]).count == others.count + 1)
        // Version 8, variant 10 (RFC 9562).
        #expect(derived.uuid.6 >> 4 == 8)
        #expect(derived.uuid.8 >> 6 == 2)
    }

    @Test("An id that is derived with a key can't be computed without the key")
    func hiddenIDs() throws {
        let event = Self.event(userID: "user")
        let ids = try [nil, Self.key, Self.key.reversed()].map { try Self.stored(event, key: $0).key.id }
        #expect(Set(ids).count == 3)
    }
}
