import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@Suite("A list without a network", .timeLimit(.minutes(1)))
@MainActor
struct ListOfflineTests {
    private nonisolated static let offline = RequestError.transport(code: -1009, reason: "offline")
    private nonisolated static let yesterday = Date(timeIntervalSinceReferenceDate: 700_000_000)
    private nonisolated static let today = Date(timeIntervalSinceReferenceDate: 700_086_400)
    private nonisolated static let kept = PlacesPage(
        places: [.fixture(id: 8), .fixture(id: 9)],
        next: URL(string: "https://service.test/locations?cursor=x"),
        receivedAt: yesterday)

    /// A service that fails with this error, if any.
    private func finder(_ error: Lock<RequestError?>, keptPage: PlacesPage? = Self.kept) -> MockPlaceFinder {
        MockPlaceFinder(
            pages: [.fixtures(2), [.fixture(id: 3)]], keptPage: keptPage, receivedAt: Self.today
        ) { call in
            if case .keptPage = call { return }
            if let error = error.withLock({ $0 }) { throw error }
        }
    }

    private func list(_ finder: any PlaceFinder, at location: any CurrentLocationSource = FixedLocation())
        -> PointsOfInterestList
    {
        PointsOfInterestList(
            placeFinder: finder, locationSource: location, notificationCenter: NotificationCenter(),
            request: NearbyPlacesRequest(center: nil, limit: 2))
    }

    @Test(
        "A list shows the page that is kept before the location is known, without distances, until there are new places"
    )
    func showsTheKeptPage() async throws {
        let error = Lock<RequestError?>(Self.offline)
        let finder = finder(error)
        let list = list(finder)
        let updates = list.updates()
        await list.load()
        #expect(list.phase == .failed(.request(Self.offline)))
        #expect(list.places == Self.kept.places.map { $0.withoutDistance })
        #expect(list.isKept)
        #expect(list.receivedAt == Self.yesterday)
        #expect(!list.hasMore)
        let request = NearbyPlacesRequest(
            center: try Coordinate(latitude: 37.3293, longitude: -121.8893), limit: 2)
        #expect(finder.calls == [.keptPage(list.request), .nearbyPlaces(request)])
        error.withLock { $0 = nil }
        await list.load()
        #expect(list.phase == .loaded)
        #expect(list.places == .fixtures(2))
        #expect(!list.isKept)
        #expect(list.receivedAt == Self.today)
        #expect(list.hasMore)
        await list.loadMore()
        #expect(list.places.map(\.id) == [1, 2, 3])
        #expect(list.receivedAt == Self.today)
        var states: [PointsOfInterestList.State] = []
        for await state in updates {
            states.append(state)
            if state.places.count == 3 { break }
        }
        #expect(states.map(\.places.count) == [0, 0, 2, 2, 2, 2, 2, 3])
        #expect(states.map(\.isKept) == [false, false, true, true, true, false, false, false])
    }

    @Test("The kept page is shown while the device looks for its location, and where it finds none")
    func showsBeforeTheLocation() async {
        let gate = Gate()
        let location = GatedLocation(gate)
        let list = list(finder(Lock(nil)), at: location)
        let load = Task { await list.load() }
        await gate.arrival()
        #expect(list.places.map(\.id) == [8, 9])
        #expect(list.phase == .loading)
        gate.open()
        await load.value
        #expect(list.places.map(\.id) == [8, 9])
        #expect(list.phase == .failed(.location(.timedOut)))
    }

    @Test("Places that were asked for far from where the device is are taken away", arguments: [false, true])
    func dropsFarPlaces(isNear: Bool) async throws {
        let latitude = 37.3293 + (isNear ? 0.449 : 0.451)
        let page = PlacesPage(
            places: Self.kept.places, next: nil,
            center: try Coordinate(latitude: latitude, longitude: -121.8893))
        let finder = MockPlaceFinder(pages: [], keptPage: page) { call in
            if case .nearbyPlaces = call { throw Self.offline }
            if case .keptPage(let request) = call, request.center != nil { throw Self.offline }
        }
        let list = list(finder)
        await list.load()
        #expect(list.places.map(\.id) == (isNear ? [8, 9] : []))
        #expect(list.isKept == isNear)
        #expect(list.phase == .failed(.request(Self.offline)))
        #expect(
            finder.calls.count == (isNear ? 2 : 3),
            "far ones: is there a page that is kept of a place nearby?")
    }

    @Test("A list that was found to be empty stays empty")
    func staysEmpty() async {
        let error = Lock<RequestError?>(nil)
        let finder = MockPlaceFinder(pages: [[]], keptPage: Self.kept) { call in
            if case .keptPage = call, error.withLock({ $0 }) == nil { throw Self.offline }
            if case .nearbyPlaces = call, let error = error.withLock({ $0 }) { throw error }
        }
        let list = list(finder)
        await list.load()
        #expect(list.phase == .loaded)
        error.withLock { $0 = Self.offline }
        await list.load()
        #expect(list.places.isEmpty)
        #expect(list.phase == .failed(.request(Self.offline)))
    }

    @Test("An empty list of another request says nothing about a request that it is changed to")
    func forgetsEmptiness() async {
        let museums = PlaceFilter(categories: ["museum"])
        let finder = MockPlaceFinder(pages: [[]], keptPage: Self.kept) { call in
            switch call {
            case .keptPage(let request) where request.filter != museums: throw Self.offline
            case .nearbyPlaces(let request) where request.filter == museums: throw Self.offline
            default: break
            }
        }
        let list = list(finder)
        await list.load()
        #expect(list.phase == .loaded)
        list.request.filter = museums
        await list.load()
        #expect(list.places.map(\.id) == [8, 9])
        #expect(list.isKept)
    }

    @Test("The centre of a list's request doesn't say which page is shown that is kept")
    func ignoresTheCenter() async throws {
        let finder = finder(Lock(nil))
        let list = list(finder)
        list.request.center = try Coordinate(latitude: 1, longitude: 2)
        await list.load()
        #expect(finder.calls.first == .keptPage(NearbyPlacesRequest(center: nil, limit: 2)))
    }

    @Test("With places that are far from where the device is now, their further pages go, too")
    func dropsFarPages() async {
        let gate = Gate()
        let location = FixedLocation()
        let finder = MockPlaceFinder(pages: [.fixtures(2), [.fixture(id: 3)]]) { call in
            guard case .nearbyPlaces(let request) = call, request.center?.latitude == 1 else { return }
            await gate.pass()
        }
        let list = list(finder, at: location)
        await list.load()
        #expect(list.hasMore)
        location.outcome = .success(.fixture(latitude: 1))
        let load = Task { await list.load() }
        await gate.arrival()
        #expect(list.places.isEmpty)
        #expect(!list.hasMore)
        gate.open()
        await load.value
        #expect(list.hasMore)
    }

    @Test("A list is empty if no page is kept, or none is to be shown", arguments: LoadPolicy.allCases)
    func isEmpty(policy: LoadPolicy) async {
        let finder = finder(Lock(Self.offline), keptPage: policy == .networkOnly ? Self.kept : nil)
        let list = PointsOfInterestList(
            placeFinder: finder, locationSource: FixedLocation(), notificationCenter: NotificationCenter(),
            policy: policy)
        await list.load()
        #expect(list.phase == .failed(.request(Self.offline)))
        #expect(list.places.isEmpty)
        #expect(list.receivedAt == nil)
    }

    @Test("A changed request takes the places away at once, whatever is loaded for the one before")
    func belongsToTheRequest() async {
        let gate = Gate()
        let finder = MockPlaceFinder { request in
            if request.searchText == nil { await gate.pass() }
            if request.searchText == "museum" { throw Self.offline }
            return .fixtures(2)
        }
        let list = list(finder)
        list.request.searchText = "caf"
        await list.load()
        #expect(list.places.count == 2)
        list.request.searchText = "museum"
        #expect(list.places.isEmpty)
        #expect(list.phase == .idle)
        await list.load()
        #expect(list.places.isEmpty, "the cafes aren't shown under the word museum")
        list.request.searchText = nil
        let late = Task { await list.load() }
        await gate.arrival()
        list.request.searchText = "museum"
        gate.open()
        await late.value
        #expect(list.places.isEmpty)
        #expect(list.phase == .idle)
        await list.loadMore()
        #expect(finder.requests.count == 3)
    }

    @Test("A list has no further page of a request that was changed")
    func hasNoMore() async {
        let list = list(MockPlaceFinder(pages: [.fixtures(2), [.fixture(id: 9)]]))
        await list.load()
        #expect(list.hasMore)
        list.request.searchText = "a"
        #expect(!list.hasMore)
    }

    @Test("A failure that comes after a later load changes nothing")
    func dropsLateFailures() async {
        let gate = Gate()
        let location = FixedLocation(.fixture(latitude: 1))
        let finder = MockPlaceFinder(pages: [[]]) { call in
            guard case .nearbyPlaces(let request) = call, request.center?.latitude == 1 else { return }
            await gate.pass()
            throw Self.offline
        }
        let list = list(finder, at: location)
        let late = Task { await list.load() }
        await gate.arrival()
        location.outcome = .success(.fixture(latitude: 1.1))
        await list.load()
        gate.open()
        await late.value
        #expect(list.phase == .loaded)
        #expect(list.places.isEmpty)
    }

    @Test("A kept page that is found after a later load isn't shown")
    func dropsLateKeptPages() async {
        let gate = Gate()
        let isFirst = Lock(true)
        let finder = MockPlaceFinder(pages: [[]], keptPage: Self.kept) { call in
            guard case .keptPage = call else { return }
            if isFirst.withLock({ isFirst in
                defer { isFirst = false }
                return isFirst
            }) {
                await gate.pass()
            } else {
                throw Self.offline
            }
        }
        let list = list(finder)
        let late = Task { await list.load() }
        await gate.arrival()
        await list.load()
        gate.open()
        await late.value
        #expect(list.phase == .loaded)
        #expect(list.places.isEmpty)
    }
}

/// A device that doesn't find its location in time, and says so when a gate is open.
@MainActor
private final class GatedLocation: CurrentLocationSource {
    let lastLocation: Coordinate? = nil
    private let gate: Gate

    init(_ gate: Gate) {
        self.gate = gate
    }

    func currentLocation() async throws(LocationError) -> LocationFix {
        await gate.pass()
        throw .timedOut
    }
}
