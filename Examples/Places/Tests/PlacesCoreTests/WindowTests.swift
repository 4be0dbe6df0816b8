import Foundation
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@testable import PlacesCore

/// The screens' models on the client's whole networking stack; only the network below is a mock.
@Suite("A window", .timeLimit(.minutes(1)))
@MainActor
struct WindowTests {
    private let service = Switch()

    private let defaults: TemporaryDefaults

    init() throws {
        defaults = try TemporaryDefaults()
    }

    private func session(locationFetcher: any LocationFetcher = MockLocationFetcher()) -> PlacesSession {
        PlacesSession(
            environment: .mock(locationFetcher: locationFetcher, handler: service.handler),
            favoriteIDs: defaults.favoriteIDs())
    }

    private func window(locationFetcher: any LocationFetcher = MockLocationFetcher()) -> PlacesWindow {
        PlacesWindow(session: session(locationFetcher: locationFetcher))
    }

    @Test("A window lists the places nearby, page after page, to the end")
    func lists() async {
        let window = window()
        #expect(Display(window.list.state).content == .idle)
        await window.perform(.loadList)
        #expect(window.list.places.count == 20)
        #expect(Display(window.list.state).footer == .more)
        await window.perform(.loadMore)
        #expect(window.list.places.map(\.id) == Array(1...25))
        #expect(Display(window.list.state).footer == .end)
    }

    @Test("A window goes on with the page that failed")
    func goesOnAfterAFailedPage() async {
        let window = window()
        await window.perform(.loadList)
        service.set(Service.offline)
        await window.perform(.loadMore)
        #expect(window.list.places.count == 20)
        guard case .failed = Display(window.list.state).footer else {
            Issue.record("the footer is \(Display(window.list.state).footer)")
            return
        }
        service.set(Service.pages)
        await window.perform(.loadMore)
        #expect(window.list.places.count == 25)
    }

    @Test("A window keeps its places if they can't be refreshed, and says so")
    func keepsPlaces() async {
        let window = window()
        await window.perform(.loadList)
        service.set(Service.offline)
        await window.perform(.loadList)
        let display = Display(window.list.state)
        #expect(display.content == .value(window.list.places))
        #expect(window.list.places.count == 20)
        #expect(display.notice?.hasSuffix(" As of just now.") == true)
    }

    @Test("A window without a network says why there is no list")
    func saysWhy() async {
        service.set(Service.offline)
        let window = window()
        await window.perform(.loadList)
        guard case .failed(let reason) = Display(window.list.state).content else {
            Issue.record("the list shows \(Display(window.list.state).content)")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test("A window finds places by a text, page after page")
    func finds() async {
        let window = window()
        window.search.text = "place"
        await window.perform(.search)
        #expect(window.search.results.count == 20)
        await window.perform(.loadMoreResults)
        #expect(window.search.results.count == 25)
        #expect(Display(window.search.state).footer == .end)
    }

    @Test("A window searches while somebody types, and again elsewhere")
    func searchesAsYouType() async {
        let window = PlacesWindow(session: session(), clock: ImpatientClock())
        var updates = window.search.updates().makeAsyncIterator()
        window.search.text = "7"
        while await updates.next()?.phase != .loaded {}
        #expect(window.search.results[6].nameParts.map(\.text) == ["Place ", "7"])
        #expect(window.search.results[6].nameParts.map(\.isMatch) == [false, true])
        window.search.scope = .everywhere
        #expect(window.search.phase == .idle && window.search.results.isEmpty)
        while await updates.next()?.phase != .loading {}
        while await updates.next()?.phase != .loaded {}
        #expect(window.search.results.count == 20)
    }

    @Test("A window doesn't search for an empty text", arguments: ["", " ", "\n\t"])
    func searchesForSomething(text: String) async {
        let window = window()
        window.search.text = text
        await window.perform(.search)
        #expect(window.search.phase == .idle)
    }

    @Test("A window begins no search when the person allows the location")
    func searchesWhenAsked() async {
        let fetcher = MockLocationFetcher(locationAuthorization: .notDetermined)
        let window = window(locationFetcher: fetcher)
        var updates = window.list.updates().makeAsyncIterator()
        fetcher.locationAuthorization = .fullAccuracy
        while await updates.next()?.phase != .loaded {}
        #expect(window.list.places.count == 20)
        #expect(window.search.phase == .idle)
    }

    @Test("A window shows a map's region, its places one by one or in clusters")
    func showsARegion() async throws {
        let window = window()
        let box = try #require(BoundingBox(west: -122, south: 37, east: -121, north: 38))
        await window.perform(.showOnMap(box, width: 375))
        #expect(window.map.box == box)
        #expect(
            window.map.state.items == [.cluster(Service.clusters[0])] + window.map.places.map(MapItem.place))
        #expect(window.map.places.map(\.id) == [25])
    }

    @Test("A window opens a place by its id, with its distance from here where that is known")
    func opensAPlace() async {
        let window = window()
        let details = window.makeDetails(id: 7)
        #expect(details.value == nil)
        await details.load()
        #expect(details.value?.id == 7 && details.value?.distance == nil)
        #expect(await window.here() != nil)
        await details.load()
        #expect(details.value?.distance == 700)
    }

    @Test("A window opens a place at once that one of its screens has")
    func opensAKnownPlace() async {
        let window = window()
        await window.perform(.loadList)
        service.set(Service.offline)
        let details = window.makeDetails(id: 7)
        #expect(details.value == window.list.places[6])
        await details.load()
        #expect(details.value?.id == 7)
        #expect(Display(details.state).notice == "You are offline. As of just now.")
    }

    @Test(
        "A place has its opening hours and its phone, where these are text",
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
    func hasProperties(place: PointOfInterest, known: PlaceProperties) {
        #expect(PlaceDetails(place).properties == known)
    }

    @Test("A window takes a place away that is gone")
    func opensNoPlace() async {
        let window = window()
        let details = window.makeDetails(id: 7)
        await details.load()
        service.set(Service.empty)
        await details.load()
        #expect(Display(details.state).content == .nothing("This place is gone."))
    }

    @Test("A window finds out where the map begins, if it may know the location")
    func knowsWhereItIs() async {
        #expect(await window().here() == LocationFix.fixture().coordinate)
        let refused = MockLocationFetcher(locationAuthorization: .denied)
        #expect(await window(locationFetcher: refused).here() == nil)
    }

    @Test("Two windows show different places, and the same favourites")
    func shareFavorites() async {
        let session = session()
        let (one, other) = (PlacesWindow(session: session), PlacesWindow(session: session))
        await one.perform(.loadList)
        #expect(one.list.places.count == 20 && other.list.places.isEmpty)
        one.search.text = "park"
        #expect(other.search.text.isEmpty)
        one.session.change(.toggle(one.list.places[1]))
        #expect(other.session.favorites.contains(id: 2))
        other.session.change(.toggle(one.list.places[1]))
        #expect(one.session.favorites.ids.isEmpty)
    }

    @Test("A window adds, moves and deletes favourites, which the next session has")
    func changesFavorites() async {
        let window = window()
        for id in 1...3 { window.session.change(.toggle(.fixture(id: id))) }
        #expect(session().favorites.ids == [1, 2, 3])
        window.session.change(.move([0], to: 3))
        #expect(session().favorites.ids == [2, 3, 1])
        window.session.change(.remove(id: 3))
        #expect(session().favorites.ids == [2, 1])
    }

    @Test("A favourite that the service no longer has stays until the person removes it")
    func keepsMissingFavorites() async {
        let window = window()
        for id in [7, 99] { window.session.change(.toggle(.fixture(id: id))) }
        await window.perform(.loadFavorites)
        #expect(session().favorites.ids == [7, 99])
        window.session.change(.remove(id: 99))
        #expect(session().favorites.ids == [7])
    }
}

@Suite("What a map shows")
struct MapItemTests {
    @Test("A tap on a cluster zooms in to all of its places")
    func zoomsIn() {
        let region = MapRegion(zoomingInto: Service.clusters[0])
        #expect(abs(region.latitude - 37.32) < 1e-9 && abs(region.longitude + 121.89) < 1e-9)
        #expect(abs(region.latitudeDelta - 0.048) < 1e-9 && abs(region.longitudeDelta - 0.024) < 1e-9)
    }

    @Test(
        "A tap on places at one position zooms in until they are shown one by one", arguments: [320.0, 1_366])
    func zoomsInToThePlaces(width: Double) throws {
        let point = try #require(BoundingBox(west: 7, south: 50, east: 7, north: 50))
        let region = MapRegion(
            zoomingInto: PlaceCluster(count: 2, latitude: 50, longitude: 7, box: point))
        let center = try Coordinate(latitude: region.latitude, longitude: region.longitude)
        let box = try #require(
            BoundingBox(
                center: center, latitudeDelta: region.latitudeDelta, longitudeDelta: region.longitudeDelta))
        #expect(MapRegion.clusterZoom(showing: box, width: width) == nil)
    }

    @Test("A map of a city counts its places")
    func counts() throws {
        let box = try #require(BoundingBox(west: -122, south: 37, east: -121.8, north: 37.4))
        #expect(MapRegion.clusterZoom(showing: box, width: 375) == 11)
    }

    @Test("A map says that there are more places than it shows")
    @MainActor
    func saysThatThereAreMore() {
        var state = PlacesMap(placeFinder: MockPlaceFinder([])).state
        state.places = [.fixture()]
        state.phase = .loaded
        #expect(Display(state).notice == "There are more places here. Zoom in to see them.")
        state.isComplete = true
        #expect(Display(state).notice == nil)
        #expect(Display(state).content == .value([.place(.fixture())]))
    }
}

/// A clock on which every pause is over at once.
private struct ImpatientClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let now = Instant()
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws { try Task.checkCancellation() }
}
