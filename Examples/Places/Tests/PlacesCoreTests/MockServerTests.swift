import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

/// The app's core over a real network, against a mock server that runs: see `scripts/checks/check-examples`. Each test has
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
    func withApp(
        editorKey: String = "", _ body: (MockServerSession, PlacesWindow) async throws -> Void
    ) async throws {
        let mock = MockServerSession(server: try #require(Service.mock))
        let defaults = try TemporaryDefaults()
        let launch = Launch(
            settings: ServiceSettings(defaults: defaults.defaults),
            events: folder.url.appendingPathComponent("Events"),
            responses: folder.url.appendingPathComponent("Responses"), arguments: mock.launchArguments,
            variables: [:], backgroundTime: time, makeLocationFetcher: { MockLocationFetcher() })
        try await mock.setFixtures(.fixtures(45, featured: true))
        try await body(mock, PlacesWindow(session: try launch.session(editorKey: editorKey)))
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
            #expect(Display(app.list.state).footer == .end)
        }
    }

    @Test("The app searches, opens a place, and shows the map's region")
    func finds() async throws {
        try await withApp { _, app in
            app.search.text = "place 7"
            await app.perform(.search)
            #expect(app.search.results.map(\.matchedName) == ["Place 7"])
            #expect(app.search.results.map { $0.nameParts.map(\.isMatch) } == [[true, false, true]])
            let details = app.makeDetails(id: 7)
            await details.load()
            #expect(details.value?.name == "Place 7")
            #expect(details.value?.distance == app.search.results.first?.place.distance)
            let gone = app.makeDetails(id: 46)
            await gone.load()
            #expect(Display(gone.state).content == .nothing("This place is gone."))
            let box = try #require(BoundingBox(west: -122, south: 37, east: -121, north: 38))
            await app.perform(.showOnMap(box, width: 375))
            #expect(app.map.clusters.map(\.count) == [45])
            #expect(app.map.places.isEmpty)
        }
    }

    @Test("The app opens a place with its opening hours and its phone")
    func showsProperties() async throws {
        try await withApp { mock, app in
            let place = PointOfInterest.fixture(properties: [
                "opening_hours": "24/7", "phone": "1", "level": 2,
            ])
            try await mock.setFixtures([place])
            let details = app.makeDetails(id: 1)
            await details.load()
            let properties = details.value.map { PlaceDetails($0).properties }
            #expect(properties == PlaceProperties(openingHours: "24/7", phone: "1"))
        }
    }

    @Test("The app loads its favourites, and keeps one that is missing")
    func loadsFavorites() async throws {
        try await withApp { _, app in
            for id in [7, 46, 3] { app.session.change(.toggle(.fixture(id: id))) }
            await app.perform(.loadFavorites)
            #expect(app.session.favorites.places.map(\.id) == [7, 46, 3])
            #expect(app.session.favorites.missing == [46])
        }
    }

    @Test("The app sends its events, in order, when it goes to the background")
    func sendsEvents() async throws {
        try await withApp { mock, app in
            await app.session.perform(.enterForeground)
            await app.perform(.open(.map))
            await app.session.perform(.enterBackground)
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
