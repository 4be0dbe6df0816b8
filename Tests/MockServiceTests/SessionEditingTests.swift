import EventLoop
import Foundation
import MockServerAPI
import POIService
import Places
import PointsOfInterestAPI
import Program
import Telemetry
import Testing

@testable import HTTPServer
@testable import MockService

@Suite("Editing in sessions of the mock")
struct SessionEditingTests {
    /// The mock on one loop, without a socket.
    private final class Site {
        private let dispatcher: any HTTPDispatcher
        private let errorResponder: any HTTPErrorResponder

        private init(_ loop: EventLoop, _ environment: [String: String]) throws {
            let invocation = Invocation(
                line: try CommandLineArguments([], switches: []), environment: environment)
            let observability = try Observability(format: .json, logsAccess: false)
            let server = MockServer(
                configuration: try MockConfiguration(invocation), observability: observability,
                endsWithStandardInput: false)
            dispatcher = server.makeHandler(on: loop, Health(requiresDatabase: false))
            errorResponder = MockErrorResponder(service: ProblemResponder(observability: observability))
        }

        static func run(
            _ environment: [String: String] = [:], _ body: @escaping @Sendable (Site) async throws -> Void
        ) throws {
            try EventLoop.runToCompletion { loop in try await body(Site(loop, environment)) }
        }

        func ask(
            _ target: String, _ method: HTTPMethod = .get, _ body: String = "", headers: HTTPHeaders = [:],
            key: String? = MockEditor.key
        ) async throws -> HTTPResponse {
            var headers = headers
            if let key { headers.add(.authorization, "Bearer \(key)") }
            if !headers.contains(.contentType) { headers.add(.contentType, "application/json") }
            let request = try HTTPRequest(
                method: method, target: target, headers: headers, body: Array(body.utf8))
            let context = RequestContext(requestID: "id-1")
            do {
                return try await dispatcher.respond(to: request, context: context)
            } catch {
                return errorResponder.response(to: error, context: context)
            }
        }

        func names(_ target: String) async throws -> [String] {
            let response = try await ask(target)
            #expect(response.status == .ok)
            return try JSONDecoder().decode([PointOfInterest].self, from: Data(response.body)).map(\.name)
        }
    }

    private static let patch: HTTPHeaders = [.contentType: "application/merge-patch+json", .ifMatch: "*"]
    private static let near = "/locations?lat=37.3184&long=-121.951&radius=10"

    @Test("What is edited in a session is in its lists and details at once, and in no other session")
    func sessions() throws {
        try Site.run { site in
            let response = try await site.ask(
                "/~session/a/locations/1", .patch, #"{"name": "Mystery Café", "category": "cafe"}"#,
                headers: Self.patch)
            #expect(response.status == .ok)
            #expect(response.headers.first(.eTag) == #""1""#)
            #expect(!response.headers.contains("Poi-Visible"))
            #expect(try await site.names("/~session/a\(Self.near)") == ["Mystery Café"])
            #expect(try await site.names("/~session/a\(Self.near)&category=cafe") == ["Mystery Café"])
            for other in ["/~session/b", ""] {
                #expect(try await site.names("\(other)\(Self.near)") == ["Winchester Mystery House"])
            }
            let details = try await site.ask("/~session/a/locations/1")
            let place = try JSONDecoder().decode(PointOfInterest.self, from: Data(details.body))
            #expect(place.name == "Mystery Café" && place.version == 1)
            // An entity tag stands for exactly these places.
            let list = try await site.ask("/~session/a\(Self.near)")
            let tag = try #require(list.headers.first(.eTag))
            _ = try await site.ask("/~session/a/locations/1", .delete, headers: [.ifMatch: #""1""#])
            let gone = try await site.ask("/~session/a\(Self.near)", headers: [.ifNoneMatch: tag])
            #expect(gone.status == .ok && gone.body == Array("[]".utf8))
            // A session that has ended begins with the fixtures.
            #expect(try await site.ask("/~session/a", .delete).status == .noContent)
            #expect(try await site.names("/~session/a\(Self.near)") == ["Winchester Mystery House"])
        }
    }

    @Test("A new place is found, and its Location is below the session's prefix")
    func creation() throws {
        try Site.run { site in
            let body = #"{"name": "New", "category": "zoo", "latitude": 80, "longitude": 170}"#
            let response = try await site.ask("/~session/a/locations", .post, body)
            #expect(response.status == .created)
            let base = URL(string: "http://127.0.0.1/~session/a/locations")
            let location = try #require(
                response.headers.first("Location").flatMap { URL(string: $0, relativeTo: base) })
            #expect(location.path.hasPrefix("/~session/a/locations/"))
            #expect(try await site.ask(location.path).status == .ok)
            #expect(try await site.names("/~session/a/locations?lat=80&long=170&radius=1") == ["New"])
            #expect(try await site.ask("\(location.path)/versions").body == Array("[]".utf8))
        }
    }

    @Test("A removed place is gone, a merged one leads to the other, and a restored one is there again")
    func formerPlaces() throws {
        try Site.run { site in
            func merge(_ id: Int, into other: Int) async throws {
                let target = "/~session/a/locations/\(id)/merge"
                let body = #"{"into": \#(other)}"#
                #expect(try await site.ask(target, .post, body, headers: [.ifMatch: "*"]).status == .ok)
            }
            func details(_ id: Int) async throws -> HTTPResponse {
                try await site.ask("/~session/a/locations/\(id)?lang=de")
            }
            func mergedFrom(_ ids: String) async throws -> [Int: [Int]] {
                let response = try await site.ask("/~session/a/locations?ids=\(ids)")
                let places = try JSONDecoder().decode([PointOfInterest].self, from: Data(response.body))
                return Dictionary(uniqueKeysWithValues: places.map { ($0.id, $0.mergedFrom) })
            }
            #expect(
                try await site.ask("/~session/a/locations/1", .delete, headers: [.ifMatch: "*"]).status
                    == .noContent)
            #expect(try await details(1).status == .gone)
            #expect(try await details(1).problem().code == .gone)
            try await merge(2, into: 3)
            try await merge(3, into: 4)
            for id in [2, 3] {
                let response = try await details(id)
                #expect(response.status.code == 308)
                #expect(response.headers.first("Location") == "4?lang=de")
            }
            #expect(try await mergedFrom("1,2,3,5") == [4: [2, 3], 5: []])
            #expect(try await details(9999).status == .notFound)
            #expect(try await site.ask("/locations/1").status == .ok)

            for id in [1, 2] {
                let restored = try await site.ask(
                    "/~session/a/locations/\(id)/restore", .post, #"{"version": 0}"#, headers: [.ifMatch: "*"]
                )
                #expect(restored.status == .ok)
                #expect(try await details(id).status == .ok)
            }
            #expect(try await mergedFrom("1,2,3") == [1: [], 2: [], 4: [3]])
            // Nothing leads to a place that isn't there.
            _ = try await site.ask("/~session/a/locations/4", .delete, headers: [.ifMatch: "*"])
            #expect(try await details(3).status == .gone)
        }
    }

    @Test("A rule makes an edit fail, as if somebody else had been faster")
    func conflicts() throws {
        try Site.run { site in
            let rules =
                #"[{"method": "PATCH", "path": "/locations/{id}", "times": 1, "fault": {"kind": "problem", "status": 412}}]"#
            #expect(try await site.ask("/~session/a/faults", .put, rules).status == .noContent)
            let refused = try await site.ask(
                "/~session/a/locations/1", .patch, #"{"name": "A"}"#, headers: Self.patch)
            #expect(try refused.problem().code == .preconditionFailed)
            #expect(try await site.names("/~session/a\(Self.near)") == ["Winchester Mystery House"])
            let done = try await site.ask(
                "/~session/a/locations/1", .patch, #"{"name": "A"}"#, headers: Self.patch)
            #expect(done.status == .ok)
        }
    }

    @Test("An edit whose response was lost is done, and done once, if it is sent again with its key")
    func lostResponses() throws {
        try Site.run { site in
            let rules = #"[{"method": "POST", "times": 1, "fault": {"kind": "lost-response"}}]"#
            #expect(try await site.ask("/~session/a/faults", .put, rules).status == .noContent)
            let body = #"{"name": "New", "category": "zoo", "latitude": 80, "longitude": 170}"#
            let key: HTTPHeaders = ["Idempotency-Key": "a-key"]
            // The response is written by the fault, which resets the connection.
            #expect(try await site.ask("/~session/a/locations", .post, body, headers: key).isWrittenByHandler)
            let again = try await site.ask("/~session/a/locations", .post, body, headers: key)
            #expect(again.status == .created && !again.isWrittenByHandler)
            #expect(try await site.names("/~session/a/locations?lat=80&long=170&radius=1") == ["New"])
            let journal = try await site.ask("/~session/a/requests?method=POST")
            let requests = try JSONDecoder().decode(MockJournal.self, from: Data(journal.body)).requests
            #expect(requests.map(\.fault) == [.lostResponse, nil])
            #expect(requests.map(\.status) == [201, 201])
        }
    }

    @Test("Without editors of its own, the mock has one with a key that isn't secret; others may not edit")
    func editors() throws {
        try Site.run { site async throws in
            // A phone reaches the mock by another name than localhost.
            let host: HTTPHeaders = ["Host": "192.0.2.7:8080"]
            #expect(try await site.ask("/locations/1/record", headers: host).status == .ok)
            #expect(try await site.ask("/locations/1/record", key: nil).status.code == 401)
            #expect(try await site.ask("/locations/1/record", key: "another-editors-key").status.code == 401)
        }
        try Site.run(["POI_API_KEYS": "a-key-for-reading"]) { site async throws in
            #expect(try await site.ask("/categories", key: nil).status.code == 401)
            #expect(try await site.ask("/categories").status == .ok)
            let refused = try await site.ask("/locations/1/record", key: "a-key-for-reading")
            #expect(try refused.problem().code == .notAnEditor)
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "editors-\(UUID())")
        // The digest of "0123456789abcdef".
        let digest = "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f"
        try Data("Ada \(digest)\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try Site.run(["POI_EDITORS_FILE": file.path]) { site async throws in
            #expect(try await site.ask("/locations/1/record").status.code == 401)
            #expect(try await site.ask("/locations/1/record", key: "0123456789abcdef").status == .ok)
        }
    }

    @Test("New fixtures, and a scenario that hides the places, begin without edits")
    func beginnings() throws {
        try Site.run { site in
            let edit = {
                try await site.ask("/~session/a/locations/1", .patch, #"{"name": "A"}"#, headers: Self.patch)
            }
            #expect(try await edit().status == .ok)
            _ = try await site.ask("/~session/a/scenario", .put, #"{"scenario": "empty"}"#)
            #expect(try await edit().status.code == 404)
            _ = try await site.ask("/~session/a/scenario", .put, #"{"scenario": "normal"}"#)
            #expect(try await site.names("/~session/a\(Self.near)") == ["Winchester Mystery House"])
            #expect(try await edit().status == .ok)
            let fixtures = #"[{"id": 1, "name": "B", "category": "cafe", "latitude": 1, "longitude": 2}]"#
            _ = try await site.ask("/~session/a/fixtures", .put, fixtures)
            #expect(try await site.ask("/~session/a/locations/1/record").headers.first(.eTag) == #""0""#)
            #expect(try await edit().status == .ok)
        }
    }
}

extension HTTPResponse {
    fileprivate var isWrittenByHandler: Bool { if case .written = content { true } else { false } }

    fileprivate func problem() throws -> Problem { try JSONDecoder().decode(Problem.self, from: Data(body)) }
}
