import Foundation
import PointsOfInterestTesting
import ServerProcess
import Testing

@Suite("A scenario of the mock", .timeLimit(.minutes(2)))
struct ScenarioTests {
    /// The statuses of requests for one place, 0 for a lost connection.
    private func statuses(_ count: Int, _ baseURL: URL) async throws -> [Int] {
        let service = PointsOfInterestService(baseURL: baseURL, retryPolicy: .never)
        var statuses: [Int] = []
        for _ in 0..<count {
            do {
                _ = try await service.place(id: 84)
                statuses.append(200)
            } catch let error as RequestError where error.problem != nil || error.urlErrorCode != nil {
                statuses.append(error.problem?.status ?? 0)
            }
        }
        return statuses
    }

    @Test("A session can be put in a scenario, and taken out of it")
    func ofASession() async throws {
        let session = try await SharedMock.session()
        try await session.setScenario(.flaky)
        #expect(try await statuses(7, session.baseURL) == [200, 200, 503, 200, 200, 503, 200])
        try await session.setScenario(.offline)
        #expect(try await statuses(2, session.baseURL) == [0, 0])
        #expect(try await session.faults().map(\.rule) == MockScenario.offline.rules)
        try await session.setScenario(.slow)
        #expect(try await session.faults().map(\.rule) == [MockFaultRule(delaySeconds: 3)])
        try await session.setScenario(.normal)
        #expect(try await statuses(3, session.baseURL) == [200, 200, 200])
        #expect(try await session.faults().isEmpty)
        try await session.end()
    }

    @Test("An empty session hides its places, until another scenario or fixtures show places")
    func isEmpty() async throws {
        let session = try await SharedMock.session()
        try await session.setFixtures([.fixture(id: 1, name: "One")])
        try await session.setScenario(.empty)
        #expect(try await session.places().isEmpty)
        #expect(try await session.service.categories().allSatisfy { $0.count == 0 })
        try await session.setScenario(.flaky)
        #expect(try await session.places().map(\.name) == ["One"])
        try await session.setScenario(.empty)
        try await session.setFixtures([.fixture(id: 2, name: "Two")])
        #expect(try await session.places().map(\.name) == ["Two"])
        try await session.end()
    }

    @Test("A scenario that changes no places forgets no event")
    func keepsEvents() async throws {
        let session = try await SharedMock.session()
        let event = TrackedEvent(userID: "u", time: 1, event: .launch, isTest: true)
        func send() async throws -> EventsResponse {
            try await session.service.loader(for: EventsEndpoint(baseURL: session.baseURL))
                .loadAPIRequest(requestData: EventsRequest(events: [event]))
        }
        #expect(try await send().accepted == 1)
        try await session.setScenario(.slow)
        try await session.setScenario(.normal)
        #expect(try await send().duplicates == 1)
        try await session.end()
    }

    @Test("poi-mock's scenario holds without a session and in each new session, until a session changes it")
    func ofTheProgram() async throws {
        let mock = try await MockServerProcess(["--scenario", "flaky"])
        let one = MockServerSession(server: mock.baseURL, name: "one")
        let other = MockServerSession(server: mock.baseURL, name: "other")
        #expect(try await statuses(3, mock.baseURL) == [200, 200, 503])
        try await other.setScenario(.normal)
        #expect(try await statuses(3, one.baseURL) == [200, 200, 503])
        #expect(try await statuses(3, other.baseURL) == [200, 200, 200])
        #expect(try await mock.stop() == 0)
    }

    @Test("An offline poi-mock resets all requests but those of its tests, and an empty one has no places")
    func ofTheProgramOffline() async throws {
        let mock = try await MockServerProcess(environment: ["POI_SCENARIO": "offline"])
        #expect(try await statuses(2, mock.baseURL) == [0, 0])
        let session = MockServerSession(server: mock.baseURL)
        await #expect(throws: RequestError.self) { try await session.places() }
        #expect(try await session.journal().requests.map(\.fault) == [.reset])
        #expect(try await mock.stop() == 0)

        let empty = try await MockServerProcess(["--scenario", "empty"])
        let here = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        let service = PointsOfInterestService(baseURL: empty.baseURL)
        #expect(try await service.nearbyPlaces(NearbyPlacesRequest(center: here)).places.isEmpty)
        #expect(try await MockServerSession(server: empty.baseURL).places().isEmpty)
        #expect(try await empty.stop() == 0)
    }

    @Test("poi-mock refuses a scenario that there isn't in one line, and its help names those that there are")
    func isKnown() async throws {
        let result = try await PoiProgram.run(["--scenario", "sloww"], of: PoiProgram.mock)
        #expect(result.exitCode == 64)
        #expect(
            result.standardError == [
                "poi-mock: --scenario=sloww: expected one of normal, slow, flaky, offline, empty"
            ])
        let help = try await PoiProgram.run(["--help"], of: PoiProgram.mock)
        let words = Set(help.standardOutput.compactMap { $0.split(separator: " ").first.map(String.init) })
        for scenario in MockScenario.allCases { #expect(words.contains(scenario.rawValue)) }
    }
}
