import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestAPI
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("An observer of attempts", .timeLimit(.minutes(1)))
struct RequestAttemptTests {
    private let clock = TestClock(limit: .seconds(20))
    private let observed = Lock<[RequestAttempt]>([])

    /// What was observed so far.
    private var attempts: [RequestAttempt] { observed.withLock { $0 } }
    private var outcomes: [RequestAttempt.Outcome] { attempts.map(\.outcome) }

    private func service(
        _ network: MockNetwork, baseURL: URL? = nil, headers: HeaderProvider? = nil
    ) -> PointsOfInterestService {
        PointsOfInterestService(
            baseURL: baseURL ?? network.baseURL, urlSession: network.session, clock: clock,
            headers: headers, observer: { [observed] attempt in observed.withLock { $0.append(attempt) } },
            jitter: { 1 })
    }

    @Test(
        "It gets what was sent and received, how long it took, and the id by which the service's log has it")
    func hasFields() async throws {
        let network = try MockNetwork(
            fields: ["Content-Type": "application/json", "X-Request-Id": "of-the-service"]
        ) { [clock] _ in
            clock.advance(by: .seconds(3))
            return (200, "[ ]")
        }
        let before = Date()
        let request = NearbyPlacesRequest(
            center: try Coordinate(latitude: 37.3293, longitude: -121.8893), radiusMeters: 500, limit: 20,
            categories: ["cafe"], searchText: "secret")
        _ = try await service(network).nearbyPlaces(request)
        let attempt = try #require(attempts.first)
        #expect(attempts.count == 1)
        #expect(attempt.endpoint == .nearbyPlaces)
        #expect(attempt.number == 1)
        #expect(attempt.method == "GET")
        #expect(
            attempt.url?.absoluteString
                == "https://service.test/locations?lat=&long=&radius=500&limit=20&category=cafe&q=")
        #expect(attempt.outcome == .response(status: 200))
        #expect(attempt.sentByteCount == 0)
        #expect(attempt.receivedByteCount == 3)
        #expect((before...Date()).contains(attempt.startedAt))
        #expect(attempt.duration == .seconds(3))
        #expect(attempt.requestID == "of-the-service")
    }

    @Test("Each retry is an attempt with its number, failed or not")
    func countsRetries() async throws {
        let count = Lock(0)
        let network = try MockNetwork { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 2 { throw URLError(.timedOut) }
            return (number == 1 ? 503 : 200, "[]")
        }
        let service = service(network)
        _ = try await service.categories()
        _ = try await service.attributions()
        #expect(attempts.map(\.number) == [1, 2, 3, 1])
        #expect(attempts.map(\.endpoint) == [.categories, .categories, .categories, .attributions])
        guard case .failure(let error) = attempts[1].outcome else {
            Issue.record("\(attempts[1])")
            return
        }
        #expect(error.urlErrorCode == .timedOut)
        #expect(attempts[1].receivedByteCount == 0)
        #expect(attempts[1].requestID == error.requestID)
        #expect(
            [outcomes[0], outcomes[2], outcomes[3]]
                == [.response(status: 503), .response(status: 200), .response(status: 200)])
    }

    @Test("It is called for a cancelled attempt, too")
    func seesCancellation() async throws {
        let network = try MockNetwork { (_: URLRequest) -> (URLResponse, Data)? in nil }
        let (cancelled, continuation) = AsyncStream.makeStream(of: RequestAttempt.self)
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, clock: clock,
            observer: { continuation.yield($0) })
        let reading = Task { try await service.categories() }
        for await _ in network.events { break }
        reading.cancel()
        await #expect(throws: RequestError.cancelled) { try await reading.value }
        var iterator = cancelled.makeAsyncIterator()
        #expect(await iterator.next()?.outcome == .failure(.cancelled))
    }

    @Test("It isn't called where nothing is sent, since the app's header fields can't be made")
    func seesNothingUnsent() async throws {
        let network = try MockNetwork(body: "[]")
        let service = service(network) { _ in throw URLError(.badURL) }
        await #expect(throws: RequestError.self) { try await service.categories() }
        #expect(attempts == [])
    }

    @Test("A redirect that is followed makes another attempt, one that is refused is the last")
    func seesRedirects() async throws {
        let network = try MockNetwork(fields: ["Location": "/v2/attributions"]) { request in
            (request.url?.path == "/v2/attributions" ? 200 : 302, "[]")
        }
        _ = try await service(network).attributions()
        #expect(attempts.map(\.number) == [1, 2])
        #expect(outcomes == [.response(status: 302), .response(status: 200)])
        #expect(attempts.map(\.url?.path) == ["/attributions", "/v2/attributions"])
        let leadingAway = try MockNetwork(fields: ["Location": "https://portal.test/"]) { _ in (302, "") }
        await #expect(throws: RequestError.redirectRefused(to: "https://portal.test:443")) {
            try await service(leadingAway).attributions()
        }
        #expect(outcomes.dropFirst(2) == [.response(status: 302)])
    }

    @Test("A response that is still valid is an attempt with status 304 and without a body")
    func seesNotModified() async throws {
        let network = try MockNetwork(fields: ["Content-Type": "application/json", "ETag": "\"1\""]) {
            $0.value(forHTTPHeaderField: "If-None-Match") == nil ? (200, "[]") : (304, "")
        }
        let service = service(network)
        for _ in 0..<2 { #expect(try await service.categories() == []) }
        #expect(outcomes == [.response(status: 200), .response(status: 304)])
        #expect(attempts.map(\.receivedByteCount) == [2, 0])
    }

    @Test("Events, the health and an app's own endpoint are observed, with the bytes of a body")
    func seesOtherEndpoints() async throws {
        let network = try MockNetwork {
            (200, $0.httpMethod == "POST" ? #"{"accepted":1,"duplicates":0}"# : #"{"status":"ready"}"#)
        }
        let service = service(network)
        let event = TrackedEvent.numbered(1)
        _ = try await service.send([event])
        _ = try await service.health()
        _ = try await service.loader(for: OwnRequest(url: network.baseURL)).loadAPIRequest(requestData: ())
        #expect(attempts.map(\.endpoint) == [.events, .health, .own])
        #expect(attempts.map(\.method) == ["POST", "GET", "GET"])
        #expect(attempts.map(\.sentByteCount) == [event.json.count + "[]".count, 0, 0])
    }

    @Test("No attempt has a key, a user's name and password, the position, a search text or a body")
    func hasNoSecret() async throws {
        let network = try MockNetwork(fields: ["Set-Cookie": "cookie-secret", "ETag": "tag-secret"]) {
            $0.httpMethod == "POST" ? (400, "body-secret") : (500, "body-secret")
        }
        let url = try #require(URL(string: "https://name-secret:password-secret@service.test/api"))
        let service = service(network, baseURL: url) { _ in
            ["Authorization": "Bearer key-secret", "X-API-Key": "key-secret"]
        }
        let center = try Coordinate(latitude: 37.1234, longitude: -121.5678)
        _ = try? await service.nearbyPlaces(NearbyPlacesRequest(center: center, searchText: "text-secret"))
        let next = url.appending(path: "locations").appending(queryItems: [
            .init(name: "cursor", value: "cursor-secret")
        ])
        _ = try? await service.nextPage(after: PlacesPage(places: [], next: next))
        let box = try #require(BoundingBox(west: -121.5678, south: 37.1234, east: -120, north: 38))
        _ = try? await service.nearbyPlaces(NearbyPlacesRequest(box: box))
        _ = try? await service.place(id: 1, center: center)
        _ = try? await service.send([.numbered(1)])
        #expect(attempts.count == 5)
        for attempt in attempts {
            var dumped = ""
            dump(attempt, to: &dumped)
            for text in ["\(attempt)", dumped] {
                #expect(text.contains("service.test"))
                for secret in ["secret", "37.1234", "121.5678", "numbered"] {
                    #expect(!text.contains(secret), "\(text)")
                }
            }
        }
    }

    @Test(
        "The values that the client doesn't know to be harmless are left out of a URL, however it is written",
        arguments: [
            ("https://h/a?zoom=3&bbox=1%2C2", "https://h/a?zoom=3&bbox="),
            ("https://h/a?l%61t=1&limit=5&ids=1,2", "https://h/a?l%61t=&limit=5&ids="),
            (
                "https://u:p@h:8080/a?lang=en,de&property.diet=halal#f",
                "https://h:8080/a?lang=en,de&property.diet="
            ),
            ("https://h/a?token=t&Limit=5&q", "https://h/a?token=&Limit=&q"),
            ("https://h/a?", "https://h/a?"),
            ("https://[::1]/a%20b", "https://[::1]/a%20b"),
        ])
    func shortensURLs(url: String, expected: String) {
        let attempt = RequestAttempt(
            endpoint: .own, url: URL(string: url), outcome: .response(status: 200))
        #expect(attempt.url?.absoluteString == expected)
    }
}

/// An endpoint of an app's own, at any URL.
struct OwnRequest: APIRequest {
    let url: URL

    func makeRequest(from requestData: Void) -> URLRequest { URLRequest(url: url) }

    func parseResponse(data: Data) -> Data { data }
}
