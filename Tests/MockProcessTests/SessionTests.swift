import Foundation
import PointsOfInterestTesting
import ServerProcess
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A session of the mock", .timeLimit(.minutes(2)))
struct SessionTests {
    @Test("A session has what the app reported, each report once, whatever places it gets")
    func reports() async throws {
        let session = try await SharedMock.session()
        let reports = [
            PlaceReport(place: 42, reason: .closed, text: "a\nb"), PlaceReport(place: 43, reason: .wrong),
        ]
        for report in [reports[0], reports[0]] { try await session.service.report(report) }
        try await session.setFixtures([.fixture(id: 1, name: "One")])
        try await session.service.report(reports[1])
        #expect(try await session.reports() == reports)
        #expect(try await SharedMock.session().reports() == [])
    }

    @Test("A session sees nothing of another's fixtures, faults and journal")
    func isAlone() async throws {
        let one = try await SharedMock.session()
        let other = try await SharedMock.session()
        try await one.setFixtures([.fixture(id: 1, name: "One"), .fixture(id: 2, name: "Two")])
        try await other.setFixtures([.fixture(id: 1, name: "Other")])
        try await one.setFaults([MockFaultRule(path: "/categories", fault: .problem(status: 503))])
        try await other.setFaults([MockFaultRule(path: "/locations", fault: .reset)])

        async let places = one.places()
        async let categories = other.service.categories()
        #expect(try await places.map(\.name) == ["One", "Two"])
        #expect(try await categories.first == CategoryCount(name: "museum", count: 1))
        let refusal = await #expect(throws: RequestError.self) { try await one.service.categories() }
        guard refusal?.problem != nil else { throw CancellationError() }
        // On a connection that had responses before, URLSession may send a GET that was reset again by itself.
        let session = URLSession(configuration: .uncached)
        let loss = await #expect(throws: RequestError.self) { try await other.places(by: session) }
        guard loss?.urlErrorCode != nil else { throw CancellationError() }

        func paths(_ session: MockServerSession) async throws -> [String] {
            try await session.journal().requests.map { String($0.target.prefix { $0 != "?" }) }
        }
        #expect(try await paths(one) == ["/locations", "/categories"])
        #expect(try await paths(other) == ["/categories", "/locations"])
        // The service without a prefix is none of theirs.
        let plain = PointsOfInterestService(baseURL: one.server)
        #expect(try await plain.place(id: 84).name == "San Jose McEnery Convention Center")

        try await one.end()
        #expect(try await other.journal().requests.count == 2)
        #expect(try await one.places().count == 20)
        #expect(try await one.journal().requests.count == 1)
        for session in [one, other] { try await session.end() }
    }

    @Test(
        "A place comes with its name in the first of the user's languages that it has one in, from every endpoint"
    )
    func languages() async throws {
        let session = try await SharedMock.session()
        try await session.setFixtures(
            json: Data(
                #"""
                [{"id": 1, "name": "Tokyo", "category": "town", "latitude": 35, "longitude": 139, "properties": {"a": 1},
                  "names": {"ja": "東京", "zh-Hant": "東京都"}, "other_names": ["Edo", "Big Mikan"]},
                 {"id": 2, "name": "Nara", "category": "town", "latitude": 34, "longitude": 136}]
                """#.utf8))
        let (service, center) = (session.service, try Coordinate(latitude: 35, longitude: 139))
        var near = NearbyPlacesRequest(center: center, limit: 1)
        func check(_ languages: [String], _ name: String, _ language: String?) async throws {
            near.languages = languages
            let page = try await service.nearbyPlaces(near)
            let details = try await service.place(id: 1, center: nil, languages: languages)
            let byID = try await service.places(ids: [2, 1], languages: languages)
            var clusters = ClustersRequest(
                box: try #require(BoundingBox(west: 138, south: 34.5, east: 140, north: 36)), zoom: 8)
            clusters.languages = languages
            let single = try await service.clusters(clusters).clusters.compactMap(\.place)
            let places = page.places + [details, byID[0]] + single
            #expect(places.map(\.name) == Array(repeating: name, count: 4))
            #expect(places.map(\.language) == Array(repeating: language, count: 4))
            #expect(byID[1].name == "Nara" && byID[1].language == nil)
            // The link to the next page has the languages, too.
            let next = try await service.nextPage(after: page)
            #expect(next?.places.map(\.name) == ["Nara"])
        }
        try await check([], "Tokyo", nil)
        try await check(["ja-JP"], "東京", "ja")
        try await check(["en", "zh-hant-TW"], "東京都", "zh-Hant")
        try await check(["en", "zh"], "Tokyo", nil)
        try await session.end()
    }

    @Test("Pages below a session's prefix link to pages below that prefix")
    func isPaged() async throws {
        let session = try await SharedMock.session()
        let here = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        var ids: [Int] = []
        for try await place in session.service.allNearbyPlaces(NearbyPlacesRequest(center: here, limit: 100))
        {
            ids.append(place.id)
        }
        #expect(Set(ids).count == ids.count)
        #expect(ids.count > 200)
        #expect(try await session.journal().requests.count == 3)
        try await session.end()
    }

    @Test("A session's journal has what the app sent, header fields and body included")
    func hasAJournal() async throws {
        let session = try await SharedMock.session()
        var request = URLRequest(url: session.baseURL.appending(path: "/locations/84"))
        request.setValue("Bearer abc", forHTTPHeaderField: "Authorization")
        request.httpMethod = "POST"
        request.httpBody = Data("körper".utf8)
        for body in [Data("körper".utf8), Data([0xFF, 0])] {
            request.httpBody = body
            _ = try await URLSession.uncached.data(for: request)
        }
        let journal = try await session.journal()
        #expect(journal.dropped == 0)
        #expect(journal.requests.map(\.id) == [1, 2])
        #expect(journal.requests.map(\.method) == ["POST", "POST"])
        #expect(journal.requests.map(\.target) == ["/locations/84", "/locations/84"])
        #expect(journal.requests.map(\.body) == ["körper", nil])
        #expect(journal.requests.map(\.bodyBase64) == [nil, "/wA="])
        #expect(journal.requests.map(\.status) == [405, 405])
        #expect(journal.requests.first?.header("authorization") == "Bearer abc")
        try await session.clearJournal()
        #expect(try await session.journal().requests.isEmpty)
        try await session.end()
    }

    @Test("A test can wait for a request that is yet to come")
    func isWaitedFor() async throws {
        let session = try await SharedMock.session()
        async let awaited = session.request(path: "/locations/{id}", method: "GET", after: 1)
        _ = try await session.service.place(id: 1)
        _ = try await session.places()
        _ = try await session.service.place(id: 2)
        #expect(try await awaited.target == "/locations/2")
        #expect(try await awaited.id == 3)
        let missing = await #expect(throws: MockServerSession.NoRequest.self) {
            try await session.request(path: "/categories", within: 0)
        }
        #expect(missing?.description == "no request /categories came within 0 seconds")
        try await session.end()
    }

    @Test("A session too many is refused until another ends")
    func isBounded() async throws {
        let mock = try await MockServerProcess(["--max-sessions", "2"])
        let sessions = ["a", "b", "c"].map { MockServerSession(server: mock.baseURL, name: $0) }
        for session in sessions.prefix(2) { _ = try await session.places() }
        let refusal = await #expect(throws: RequestError.self) { try await sessions[2].places() }
        guard let problem = refusal?.problem else { throw CancellationError() }
        #expect(problem.status == 507)
        #expect(problem.code.rawValue == "too-many-sessions")
        try await sessions[0].end()
        #expect(try await sessions[2].places().count == 20)
        #expect(try await mock.stop() == 0)
    }

    @Test(
        "A session refuses settings that make no sense, with a problem",
        arguments: [
            ("PUT", "/fixtures", "[{}]", 422, "invalid-fixtures"),
            ("PUT", "/faults", "[{}]", 422, "invalid-faults"),
            ("PUT", "/scenario", #"{"scenario":"sloww"}"#, 422, "invalid-scenario"),
            ("PUT", "/scenario", #"{"name":"slow"}"#, 422, "invalid-scenario"),
            ("PUT", "/scenario", "", 422, "invalid-scenario"),
            ("GET", "/scenario", "", 405, "method-not-allowed"),
            ("GET", "/fixtures", "", 405, "method-not-allowed"),
            ("POST", "/faults", "", 405, "method-not-allowed"),
            ("GET", "/requests?wait=61", "", 400, "bad-request"),
            ("GET", "/nonsense", "", 404, "unknown-path"),
            ("PUT", "", "", 405, "method-not-allowed"), ("GET", "/fixtures/1", "", 404, "unknown-path"),
        ])
    func refuses(method: String, path: String, body: String, status: Int, code: String) async throws {
        let session = try await SharedMock.session()
        var request = URLRequest(url: try #require(URL(string: session.baseURL.absoluteString + path)))
        request.httpMethod = method
        if !body.isEmpty { request.httpBody = Data(body.utf8) }
        let (data, response) = try await URLSession.uncached.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == status)
        let problem = try JSONDecoder().decode(Problem.self, from: data)
        #expect(problem.status == status)
        #expect(problem.code.rawValue == code)
        try await session.end()
    }

    @Test(
        "A session's name needs no encoding in a URL",
        arguments: ["a b", "ä", ".", "..", String(repeating: "n", count: 65)])
    func hasAName(name: String) async throws {
        let session = MockServerSession(server: try await SharedMock.session().server, name: name)
        await #expect(throws: RequestError.self) { try await session.faults() }
    }
}

/// One `poi-mock` for the tests of a suite, which have a session each.
enum SharedMock {
    private static let process = Task { try await MockServerProcess() }

    /// A session of a test's own.
    static func session() async throws -> MockServerSession {
        MockServerSession(server: try await process.value.baseURL)
    }
}

extension MockServerSession {
    /// The app's own client, which sends each request once.
    var service: PointsOfInterestService { service(by: .uncached) }

    /// Asks for a page of places in San José.
    func places(by session: URLSession = .uncached) async throws -> [PointOfInterest] {
        let here = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        return try await service(by: session).nearbyPlaces(NearbyPlacesRequest(center: here)).places
    }

    private func service(by session: URLSession) -> PointsOfInterestService {
        PointsOfInterestService(
            baseURL: baseURL, urlSession: session, responseStore: nil, retryPolicy: .never)
    }
}
