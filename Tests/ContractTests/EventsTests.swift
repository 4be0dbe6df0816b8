import Foundation
import PointsOfInterestTesting
import Testing

/// Events of tests, marked as such; what a service has of them from an earlier run changes no result.
@Suite("Tracking events", .timeLimit(.minutes(2)))
struct EventsTests {
    private static let json = ["Content-Type": "application/json"]

    private static func batch(_ count: Int, of run: UUID = UUID()) -> EventsRequest {
        EventsRequest(
            events: (0..<count).map { number in
                TrackedEvent(
                    userID: "contract-test-\(run)", time: 1_536_753_250.92 + Double(number),
                    event: .pageView(page: .locationDetail, additional: "\(number)"), isTest: true)
            })
    }

    private static func send(_ request: EventsRequest) async throws -> EventsResponse {
        try await Service.loader { EventsEndpoint(baseURL: $0) }.loadAPIRequest(requestData: request)
    }

    private static func problem(of body: String) async throws -> Problem {
        let response = try await Service.response(
            to: "/events", method: "POST", headers: json, body: Data(body.utf8))
        return try JSONDecoder().decode(Problem.self, from: response.body)
    }

    @Test(
        "A batch is taken once: sent again, all of it was there", .contract(.invariant, .writesTestData))
    func exactlyOnce() async throws {
        let batch = Self.batch(25)
        #expect(try await Self.send(batch) == EventsResponse(accepted: 25, duplicates: 0))
        #expect(try await Self.send(batch) == EventsResponse(accepted: 0, duplicates: 25))
        let more = EventsRequest(events: batch.events + Self.batch(5).events)
        #expect(try await Self.send(more) == EventsResponse(accepted: 5, duplicates: 25))
    }

    @Test("The shape of the app's log is taken, without an id", .contract(.invariant, .writesTestData))
    func seedShape() async throws {
        let body = """
            [{"user_id": "\(UUID())", "time": 1536753250.92, "test": true, "event": \
            {"name": "page-view", "value": {"page": "location-detail", "additional": "42"}}}]
            """
        for expected in [
            EventsResponse(accepted: 1, duplicates: 0), EventsResponse(accepted: 0, duplicates: 1),
        ] {
            let response = try await Service.response(
                to: "/events", method: "POST", headers: Self.json, body: Data(body.utf8))
            #expect(response.status == 200)
            #expect(response.header("Cache-Control") == "no-store")
            #expect(try JSONDecoder().decode(EventsResponse.self, from: response.body) == expected)
        }
    }

    @Test("A newer app's event is taken", .contract(.invariant, .writesTestData))
    func unknownName() async throws {
        let event = TrackingEvent(EventContent(name: "not-yet-thought-of", value: ["depth": 3]))
        let request = EventsRequest(
            events: [TrackedEvent(userID: "contract-test", time: 1, event: event, isTest: true)])
        #expect(try await Self.send(request) == EventsResponse(accepted: 1, duplicates: 0))
    }

    @Test("One bad event refuses the batch, and each is named", .contract(.invariant, .writesTestData))
    func faults() async throws {
        let run = UUID()
        let good = String(decoding: Self.batch(1, of: run).events[0].json, as: UTF8.self)
        let problem = try await Self.problem(of: "[\(good), 7, {\"user_id\": \"x\", \"time\": \"now\"}]")
        #expect(problem.status == 422)
        #expect(problem.code == .invalidEvents)
        #expect(Set(problem.eventErrors.map(\.index)) == [1, 2])
        // Nothing of it was kept.
        let alone = try await Service.response(
            to: "/events", method: "POST", headers: Self.json, body: Data("[\(good)]".utf8))
        #expect(
            try JSONDecoder().decode(EventsResponse.self, from: alone.body)
                == EventsResponse(accepted: 1, duplicates: 0))
    }

    @Test(
        "A body that is no batch of events is refused with the code of its fault", .contract(.invariant),
        arguments: [("{}", ProblemCode.malformedBody), ("[", .malformedBody), ("", .malformedBody)])
    func malformed(body: String, code: ProblemCode) async throws {
        #expect(try await Self.problem(of: body).code == code)
    }

    @Test("Other media types are 415, other methods 405", .contract(.invariant))
    func requests() async throws {
        let text = try await Service.response(
            to: "/events", method: "POST", headers: ["Content-Type": "text/plain"], body: Data("[]".utf8))
        #expect(text.status == 415)
        for method in ["GET", "PUT", "DELETE"] {
            let response = try await Service.response(to: "/events", method: method)
            #expect(response.status == 405)
            #expect(response.header("Allow")?.contains("POST") == true)
        }
    }
}
