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
    private func finder(_ error: Lock<RequestError?>, lastPage: PlacesPage? = Self.kept) -> MockPlaceFinder {
        MockPlaceFinder(
            pages: [.fixtures(2), [.fixture(id: 3)]], lastPage: lastPage, receivedAt: Self.today
        ) { call in
            if case .lastPage = call { return }
            if let error = error.withLock({ $0 }) { throw error }
        }
    }

    private func list(_ finder: any PlaceFinder, at location: FixedLocation = FixedLocation())
        -> PointsOfInterestList
    {
        PointsOfInterestList(
            placeFinder: finder, locationSource: location, notificationCenter: NotificationCenter(),
            request: NearbyPlacesRequest(center: nil, limit: 2))
    }

    @Test("A list shows the last page that is kept, its age and the failure, until there are new places")
    func showsTheLastPage() async throws {
        let error = Lock<RequestError?>(Self.offline)
        let finder = finder(error)
        let list = list(finder)
        await list.load()
        #expect(list.phase == .failed(.request(Self.offline)))
        #expect(list.places == Self.kept.places)
        #expect(list.receivedAt == Self.yesterday)
        #expect(!list.hasMore)
        let request = NearbyPlacesRequest(
            center: try Coordinate(latitude: 37.3293, longitude: -121.8893), limit: 2)
        #expect(finder.calls == [.nearbyPlaces(request), .lastPage(list.request)])
        error.withLock { $0 = nil }
        await list.load()
        #expect(list.phase == .loaded)
        #expect(list.places == .fixtures(2))
        #expect(list.receivedAt == Self.today)
        #expect(list.hasMore)
        await list.loadMore()
        #expect(list.places.map(\.id) == [1, 2, 3])
        #expect(list.receivedAt == Self.today)
    }

    @Test("A list that shows places keeps them, and doesn't look for a kept page")
    func keepsPlaces() async {
        let error = Lock<RequestError?>(nil)
        let finder = finder(error)
        let list = list(finder)
        await list.load()
        error.withLock { $0 = Self.offline }
        await list.load()
        #expect(list.phase == .failed(.request(Self.offline)))
        #expect(list.places == .fixtures(2))
        #expect(list.receivedAt == Self.today)
        #expect(list.hasMore)
        #expect(finder.calls.count == 2)
    }

    @Test("A list is empty if no page is kept")
    func isEmpty() async {
        let list = list(finder(Lock(Self.offline), lastPage: nil))
        await list.load()
        #expect(list.phase == .failed(.request(Self.offline)))
        #expect(list.places.isEmpty)
        #expect(list.receivedAt == nil)
    }

    @Test(
        "A list shows a kept page if the service has failed, or if another server responded in its place",
        arguments: [
            .unexpectedStatus(502), .problem(Problem(.databaseBusy)),
            .redirectRefused(to: "http://portal.test:80"),
        ] as [RequestError])
    func failedService(error: RequestError) async {
        let list = list(finder(Lock(error)))
        await list.load()
        #expect(list.places == Self.kept.places)
        #expect(list.phase == .failed(.request(error)))
    }

    @Test(
        "A list shows no kept page if the service has refused the request",
        arguments: [.unexpectedStatus(404), .notHTTP, .problem(Problem(.outOfRange)), .cancelled]
            as [RequestError])
    func refused(error: RequestError) async {
        let finder = finder(Lock(error))
        let list = list(finder)
        await list.load()
        #expect(list.places.isEmpty)
        #expect(finder.calls.count == 1)
        #expect(list.phase == (error == .cancelled ? .idle : .failed(.request(error))))
    }

    @Test("A failure that comes after a later load shows no kept page")
    func dropsLateFailures() async {
        let gate = Gate()
        let location = FixedLocation(.fixture(latitude: 1))
        let finder = MockPlaceFinder(pages: [[]], lastPage: Self.kept) { call in
            guard case .nearbyPlaces(let request) = call, request.center?.latitude == 1 else { return }
            await gate.pass()
            throw Self.offline
        }
        let list = list(finder, at: location)
        let late = Task { await list.load() }
        await gate.arrival()
        location.outcome = .success(.fixture(latitude: 2))
        await list.load()
        gate.open()
        await late.value
        #expect(list.phase == .loaded)
        #expect(list.places.isEmpty)
        #expect(finder.calls.count == 2)
    }

    @Test("A kept page that is found after a later load isn't shown")
    func dropsLateKeptPages() async {
        let gate = Gate()
        let location = FixedLocation(.fixture(latitude: 1))
        let finder = MockPlaceFinder(pages: [[]], lastPage: Self.kept) { call in
            if case .lastPage = call { await gate.pass() }
            if case .nearbyPlaces(let request) = call, request.center?.latitude == 1 { throw Self.offline }
        }
        let list = list(finder, at: location)
        let late = Task { await list.load() }
        await gate.arrival()
        location.outcome = .success(.fixture(latitude: 2))
        await list.load()
        gate.open()
        await late.value
        #expect(list.phase == .loaded)
        #expect(list.places.isEmpty)
    }

    @Test("A list keeps its places when the session fails, and says why")
    func failsWithTheSession() async {
        let isOffline = Lock(false)
        let environment = AppEnvironment.mock { request in
            if isOffline.withLock({ $0 }) { throw URLError(.notConnectedToInternet) }
            return try RecordedResponse.response(to: request)
        }
        let list = environment.makeList()
        let before = Date()
        await list.load()
        #expect(list.phase == .loaded)
        let state = list.state
        #expect(!state.places.isEmpty)
        #expect((list.receivedAt ?? .distantPast) >= before)
        isOffline.withLock { $0 = true }
        await list.load()
        guard case .failed(.request(.transport(let code, _))) = list.phase else {
            Issue.record("the phase is \(list.phase)")
            return
        }
        #expect(code == URLError.Code.notConnectedToInternet.rawValue)
        #expect(list.places == state.places)
        #expect(list.receivedAt == state.receivedAt)
        isOffline.withLock { $0 = false }
        await list.load()
        #expect(list.phase == .loaded)
    }

    @Test("Another list shows the page that the service has kept, with its age")
    func showsWhatTheServiceKeeps() async {
        let isOffline = Lock(false)
        let environment = AppEnvironment.mock { request in
            if isOffline.withLock({ $0 }) { throw URLError(.notConnectedToInternet) }
            let headers = ["Content-Type": "application/json", "ETag": "\"1\""]
            return (
                try .fixture(for: request, headers: headers),
                try JSONEncoder().encode([PointOfInterest].fixtures(2))
            )
        }
        let loaded = environment.makeList()
        await loaded.load()
        isOffline.withLock { $0 = true }
        let list = environment.makeList()
        await list.load()
        guard case .failed(.request(.transport)) = list.phase else {
            Issue.record("the phase is \(list.phase)")
            return
        }
        #expect(!list.places.isEmpty)
        #expect(list.places == loaded.places)
        #expect(list.receivedAt == loaded.receivedAt)
        #expect(!list.hasMore)
        let other = environment.makeList(request: NearbyPlacesRequest(center: nil, categories: ["cafe"]))
        await other.load()
        #expect(other.places.isEmpty)
    }
}
