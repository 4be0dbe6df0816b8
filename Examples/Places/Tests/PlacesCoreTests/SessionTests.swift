import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The screens' models on the client's whole networking stack; only the network below is a mock.
@Suite("A session", .timeLimit(.minutes(1)))
@MainActor
struct SessionTests {
    private let service = Switch()

    private func session(
        notificationCenter: NotificationCenter = MockNotificationCenter(),
        locationFetcher: any LocationFetcher = MockLocationFetcher()
    ) -> PlacesSession {
        PlacesSession(
            environment: .mock(
                notificationCenter: notificationCenter, locationFetcher: locationFetcher,
                handler: service.handler))
    }

    @Test("A session lists the places nearby, page after page, to the end")
    func lists() async {
        let session = session()
        #expect(ListDisplay(session.list.state).content == .idle)
        await session.perform(.loadList)
        #expect(session.list.places.count == 20)
        #expect(ListDisplay(session.list.state).footer == .more)
        await session.perform(.loadMore)
        #expect(session.list.places.map(\.id) == Array(1...25))
        #expect(ListDisplay(session.list.state).footer == .end)
    }

    @Test("A session goes on with the page that failed")
    func goesOnAfterAFailedPage() async {
        let session = session()
        await session.perform(.loadList)
        service.set(Service.offline)
        await session.perform(.loadMore)
        #expect(session.list.places.count == 20)
        guard case .failed = ListDisplay(session.list.state).footer else {
            Issue.record("the footer is \(ListDisplay(session.list.state).footer)")
            return
        }
        service.set(Service.pages)
        await session.perform(.loadMore)
        #expect(session.list.places.count == 25)
    }

    @Test("A session keeps its places if they can't be refreshed, and says so")
    func keepsPlaces() async {
        let session = session()
        await session.perform(.loadList)
        service.set(Service.offline)
        await session.perform(.loadList)
        let display = ListDisplay(session.list.state)
        #expect(display.content == .places(session.list.places))
        #expect(session.list.places.count == 20)
        #expect(display.notice?.hasSuffix("These places are from just now.") == true)
    }

    @Test("A session without a network says why there is no list")
    func saysWhy() async {
        service.set(Service.offline)
        let session = session()
        await session.perform(.loadList)
        guard case .failed(let reason) = ListDisplay(session.list.state).content else {
            Issue.record("the list shows \(ListDisplay(session.list.state).content)")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test("A session finds places by a text, page after page")
    func finds() async {
        let session = session()
        await session.perform(.search("tech"))
        #expect(session.results.request.searchText == "tech")
        #expect(session.results.places.count == 20)
        await session.perform(.loadMoreResults)
        #expect(session.results.places.count == 25)
    }

    @Test("A session doesn't search for an empty text", arguments: ["", " ", "\n\t"])
    func searchesForSomething(text: String) async {
        let session = session()
        await session.perform(.search(text))
        #expect(session.results.phase == .idle)
    }

    @Test("A session begins no search when the person allows the location")
    func searchesWhenAsked() async {
        let fetcher = MockLocationFetcher(locationAuthorization: .notDetermined)
        let session = session(locationFetcher: fetcher)
        var updates = session.list.updates().makeAsyncIterator()
        fetcher.locationAuthorization = .fullAccuracy
        while await updates.next()?.phase != .loaded {}
        #expect(session.list.places.count == 20)
        #expect(session.results.phase == .idle)
    }

    @Test("A session shows the places of a map's region")
    func showsARegion() async throws {
        let session = session()
        let box = try #require(BoundingBox(west: -122, south: 37, east: -121, north: 38))
        await session.perform(.showOnMap(box))
        #expect(session.map.state.box == box)
        #expect(session.map.state.places.isEmpty == false)
    }

    @Test("A session opens a place by its id, with its distance from here")
    func opensAPlace() async {
        let session = session()
        let place = [PointOfInterest].fixtures(25, featured: true)[6]
        #expect(await session.detail(of: 7) == .loaded(place, PlaceProperties()))
    }

    @Test(
        "A session opens a place with its opening hours and its phone, where these are text",
        arguments: [
            (
                PointOfInterest.fixture(properties: ["opening_hours": "Mo-Su 8-20", "phone": "1", "level": 2]
                ),
                PlaceProperties(openingHours: "Mo-Su 8-20", phone: "1")
            ),
            (
                .fixture(properties: ["opening_hours": ["Mo": "8-20"], "phone": "1"]),
                PlaceProperties(phone: "1")
            ),
            (
                .fixture(properties: ["opening_hours": "24/7", "phone": 1]),
                PlaceProperties(openingHours: "24/7")
            ),
            (.fixture(properties: ["opening_hours": .null]), PlaceProperties()),
            (.fixture(), PlaceProperties()),
        ])
    func opensAPlaceWithProperties(place: PointOfInterest, known: PlaceProperties) async {
        service.set { (try .fixture(for: $0), try JSONEncoder().encode(place)) }
        #expect(await session().detail(of: 1) == .loaded(place, known))
    }

    @Test("A session says that a place is gone, or why it can't be loaded")
    func opensNoPlace() async {
        let session = session()
        #expect(await session.detail(of: 26) == .gone)
        let refused: MockURLProtocol.Handler = { try RecordedResponse.invalidParameters.response(to: $0) }
        for handler in [refused, Service.offline] {
            service.set(handler)
            guard case .failed(let reason) = await session.detail(of: 7) else {
                Issue.record("it was loaded, or is gone")
                continue
            }
            #expect(!reason.isEmpty)
        }
    }

    @Test("A session returns nothing about a place whose screen was left")
    func opensUntilCancelled() async {
        let session = session()
        let task = Task { await session.detail(of: 7) }
        task.cancel()
        #expect(await task.value == nil)
    }

    @Test("A session finds out where the map begins, if it may know the location")
    func knowsWhereItIs() async {
        #expect(await session().here() == LocationFix.fixture().coordinate)
        let refused = MockLocationFetcher(locationAuthorization: .denied)
        #expect(await session(locationFetcher: refused).here() == nil)
    }
}
