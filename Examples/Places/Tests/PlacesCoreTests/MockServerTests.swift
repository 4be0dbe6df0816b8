import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

/// The app's core over a real network, against a mock server that runs: see `scripts/checks/check-sample`. Each test has
/// a session of its own, which the launch arguments name as those of a UI test do.
@Suite(
    "The core against the mock server",
    .enabled(if: Service.mock != nil, "needs a mock server: POI_MOCK_URL, see scripts/with-mock"),
    .timeLimit(.minutes(1)))
@MainActor
struct MockServerTests {
    private let folder = TemporaryFolder()
    private let time = MockBackgroundTime()

    /// Runs a test with a session of the mock server, and the app on it.
    private func withApp(_ body: (MockServerSession, PlacesSession) async throws -> Void) async throws {
        let mock = MockServerSession(server: try #require(Service.mock))
        let launch = Launch(
            events: folder.url.appendingPathComponent("Events"),
            responses: folder.url.appendingPathComponent("Responses"), arguments: mock.launchArguments,
            variables: [:], backgroundTime: time, makeLocationFetcher: { MockLocationFetcher() })
        try await mock.setFixtures(.fixtures(45, featured: true))
        try await body(mock, try launch.session())
        try await mock.end()
    }

    @Test("The app lists 45 places page after page, through failures, to the end")
    func lists() async throws {
        try await withApp { mock, app in
            await app.perform(.loadList)
            #expect(app.list.places.count == 20)
            for (before, after) in [(20, 40), (40, 45)] {
                try await mock.setFaults([MockFaultRule(path: "/locations", fault: .problem(status: 500))])
                await app.perform(.loadMore)
                #expect(app.list.places.count == before)
                try await mock.removeFaults()
                await app.perform(.loadMore)
                #expect(app.list.places.count == after)
            }
            #expect(app.list.places.map(\.id) == Array(1...45))
            #expect(ListDisplay(app.list.state).footer == .end)
        }
    }

    @Test("The app searches, opens a place, and shows the map's region")
    func finds() async throws {
        try await withApp { _, app in
            await app.perform(.search("place 7"))
            #expect(app.results.places.map(\.name) == ["Place 7"])
            guard case .loaded(let place, let properties) = await app.detail(of: 7) else {
                Issue.record("the place was not loaded")
                return
            }
            #expect(place.distance == app.results.places.first?.distance)
            #expect(properties == PlaceProperties())
            #expect(await app.detail(of: 46) == .gone)
            let box = try #require(BoundingBox(west: -122, south: 37, east: -121, north: 38))
            await app.perform(.showOnMap(box))
            #expect(app.map.places.count == 45)
        }
    }

    @Test("The app opens a place with its opening hours and its phone")
    func showsProperties() async throws {
        try await withApp { mock, app in
            let place = PointOfInterest.fixture(properties: [
                "opening_hours": "24/7", "phone": "1", "level": 2,
            ])
            try await mock.setFixtures([place])
            guard case .loaded(_, let properties) = await app.detail(of: 1) else {
                Issue.record("the place was not loaded")
                return
            }
            #expect(properties == PlaceProperties(openingHours: "24/7", phone: "1"))
        }
    }

    @Test("The app sends its events, in order, when it goes to the background")
    func sendsEvents() async throws {
        try await withApp { mock, app in
            for action in [UserAction.enterForeground, .open(.map), .enterBackground] {
                await app.perform(action)
            }
            let requests = try await mock.journal(MockJournalQuery(path: "/events")).requests
            #expect(requests.count == 1)
            let body = requests.first?.body ?? ""
            let names = ["\"launch\"", "\"page-view\"", "\"background\""].map {
                body.range(of: $0)?.lowerBound
            }
            #expect(!names.contains(nil))
            #expect(names.compactMap(\.self) == names.compactMap(\.self).sorted())
            #expect(time.ended == [1])
        }
    }
}
