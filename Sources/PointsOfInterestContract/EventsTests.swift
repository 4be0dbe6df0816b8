import Foundation
import PointsOfInterestTesting
import Testing

/// The events are marked as tests. Those that an earlier run has sent change no result.
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

    /// What a fault says for programs.
    private struct Fault: Hashable {
        let index: Int
        let parameter: String?
        let code: EventFault.Code
    }

    private static func send(_ request: EventsRequest) async throws -> EventsResponse {
        try await Service.loader { EventsEndpoint(baseURL: $0) }.loadAPIRequest(requestData: request)
    }

    private static func problem(of body: String) async throws -> Problem {
        let response = try await Service.response(
            to: "/events", method: "POST", headers: json, body: Data(body.utf8))
        return try response.problem
    }

    @Test(
        "A batch that is sent again is stored once, and its events are counted as duplicates",
        .contract(
            .invariant, .writesTestData, in: .events,
            otherwise: "An event that is sent again after a lost response is counted twice."))
    func exactlyOnce() async throws {
        let batch = Self.batch(25)
        #expect(try await Self.send(batch) == EventsResponse(accepted: 25, duplicates: 0))
        #expect(try await Self.send(batch) == EventsResponse(accepted: 0, duplicates: 25))
        let more = EventsRequest(events: batch.events + Self.batch(5).events)
        #expect(try await Self.send(more) == EventsResponse(accepted: 5, duplicates: 25))
    }

    @Test(
        "An event in the shape of the app's log, without an id, is accepted, and nobody learns whether it was there",
        .contract(
            .invariant, .writesTestData, in: .events,
            otherwise: "Events of apps without ids are lost, or whoever guesses one learns that it happened.")
    )
    func seedShape() async throws {
        let body = """
            [{"user_id": "\(UUID())", "time": 1536753250.92, "test": true, "event": \
            {"name": "page-view", "value": {"page": "location-detail", "additional": "42"}}}]
            """
        for _ in 0..<2 {
            let response = try await Service.response(
                to: "/events", method: "POST", headers: Self.json, body: Data(body.utf8))
            #expect(response.status == 200)
            let counts = try JSONDecoder().decode(EventsResponse.self, from: response.body)
            #expect(counts == EventsResponse(accepted: 1, duplicates: 0))
        }
    }

    @Test(
        "An event of a newer app is accepted",
        .contract(
            .invariant, .writesTestData, in: .events,
            otherwise: "The service loses what newer apps tell, until it is updated."))
    func unknownName() async throws {
        let event = TrackingEvent(EventContent(name: "not-yet-thought-of", value: ["depth": 3]))
        let request = EventsRequest(
            events: [TrackedEvent(userID: "contract-test", time: 1, event: event, isTest: true)])
        #expect(try await Self.send(request) == EventsResponse(accepted: 1, duplicates: 0))
    }

    @Test(
        "A batch with one bad event is refused, and the problem names each fault by its event",
        .contract(
            .invariant, .writesTestData, in: .events,
            otherwise: "The app drops good events, or sends a bad one for ever."))
    func faults() async throws {
        let run = UUID()
        let good = String(decoding: Self.batch(1, of: run).events[0].json, as: UTF8.self)
        let problem = try await Self.problem(of: "[\(good), 7, {\"user_id\": \"x\", \"time\": \"now\"}]")
        #expect(problem.status == 422)
        #expect(problem.code == .invalidEvents)
        let faults = problem.eventErrors.map {
            Fault(index: $0.index, parameter: $0.parameter, code: $0.code)
        }
        #expect(
            Set(faults) == [
                Fault(index: 1, parameter: nil, code: .notAnEvent),
                Fault(index: 2, parameter: "time", code: .wrongType),
                Fault(index: 2, parameter: "event", code: .missing),
            ])
        #expect(problem.eventErrors.allSatisfy { !$0.detail.isEmpty && $0.detail != $0.code.rawValue })
        // No event of the refused batch was kept.
        let alone = try await Service.response(
            to: "/events", method: "POST", headers: Self.json, body: Data("[\(good)]".utf8))
        #expect(
            try JSONDecoder().decode(EventsResponse.self, from: alone.body)
                == EventsResponse(accepted: 1, duplicates: 0))
    }

    @Test(
        "A body that is no batch of events is refused with the code of its fault",
        .contract(.invariant, in: .events, otherwise: "The app keeps sending what can never be taken."),
        arguments: [("{}", ProblemCode.malformedBody), ("[", .malformedBody), ("", .malformedBody)])
    func malformed(body: String, code: ProblemCode) async throws {
        let problem = try await Self.problem(of: body)
        #expect(problem.code == code)
        #expect(problem.status == 400)
    }

    @Test(
        "An unsupported media type gets 415, another method 405, and a request that accepts no JSON 406",
        .contract(
            .invariant, in: .events, otherwise: "A form on any web page can send events without a preflight.")
    )
    func requests() async throws {
        let text = try await Service.response(
            to: "/events", method: "POST", headers: ["Content-Type": "text/plain"], body: Data("[]".utf8))
        #expect(text.status == 415)
        #expect(try text.problem.code == .unsupportedMediaType)
        let unreadable = try await Service.response(
            to: "/events", method: "POST",
            headers: Self.json.merging(["Accept": "text/csv"]) { $1 }, body: Data("[]".utf8))
        #expect(unreadable.status == 406)
        #expect(try unreadable.problem.code == .notAcceptable)
        for method in ["GET", "PUT", "DELETE"] {
            let response = try await Service.response(to: "/events", method: method)
            #expect(response.status == 405)
            #expect(response.list("Allow").contains("post"))
        }
    }
}
