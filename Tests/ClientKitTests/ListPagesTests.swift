import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@Suite("A list's further pages", .timeLimit(.minutes(1)))
@MainActor
struct ListPagesTests {
    private nonisolated static let all: [PointOfInterest] = .fixtures(45)
    private nonisolated static let pages = [Array(all[..<20]), Array(all[20..<40]), Array(all[40...])]
    private nonisolated static let second = MockPlaceFinder.Call.nextPage(number: 2)

    private func list(_ finder: MockPlaceFinder, at location: FixedLocation = FixedLocation())
        -> PointsOfInterestList
    {
        PointsOfInterestList(
            placeFinder: finder, locationSource: location, notificationCenter: NotificationCenter())
    }

    @Test("A list loads 45 places page after page, through two failures, to the end")
    func goToTheEnd() async {
        let failures = Lock([MockPlaceFinder.Call.nextPage(number: 3), Self.second])
        let finder = MockPlaceFinder(pages: Self.pages) { call in
            let fails = failures.withLock { failures in
                failures.last == call ? failures.popLast() != nil : false
            }
            if fails { throw RequestError.unexpectedStatus(502) }
        }
        let list = list(finder)
        await list.loadMore()
        #expect(list.phase == .idle)
        await list.load()
        var states: [(LoadPhase, Int)] = []
        while list.hasMore {
            await list.loadMore()
            states.append((list.phase, list.places.count))
        }
        let failed = LoadPhase.failedMore(.request(.unexpectedStatus(502)))
        #expect(states.map(\.0) == [failed, .loaded, failed, .loaded])
        #expect(states.map(\.1) == [20, 40, 40, 45])
        #expect(list.places == Self.all)
        #expect(
            finder.calls.dropFirst(2) == [
                Self.second, Self.second, .nextPage(number: 3), .nextPage(number: 3),
            ])
        await list.loadMore()
        #expect(finder.calls.count == 6)
        #expect(list.phase == .loaded)
    }

    @Test("Pages are loaded one at a time, and each is announced once with its phase")
    func areLoadedOneAtATime() async {
        let gate = Gate()
        let finder = MockPlaceFinder(pages: Self.pages) { if $0 == Self.second { await gate.pass() } }
        var list: PointsOfInterestList? = list(finder)
        await list?.load()
        let updates = list?.updates()
        let more = Task { [list] in await list?.loadMore() }
        await gate.arrival()
        #expect(list?.phase == .loadingMore)
        #expect(list?.places == Self.pages[0])
        await list?.loadMore()
        gate.open()
        await more.value
        #expect(finder.calls.count == 3)
        list = nil
        var states: [PointsOfInterestList.State] = []
        if let updates {
            for await state in updates {
                states.append(state)
                if states.count == 3 { break }
            }
        }
        #expect(states.map(\.phase) == [.loaded, .loadingMore, .loaded])
        #expect(states.map(\.places.count) == [20, 20, 40])
    }

    @Test(
        "A place that is on two pages is shown once, and a page with nothing else is followed by the next one"
    )
    func showsPlacesOnce() async {
        let finder = MockPlaceFinder(pages: [
            [.fixture(id: 1), .fixture(id: 2), .fixture(id: 1)], [.fixture(id: 2), .fixture(id: 3)],
            [.fixture(id: 3), .fixture(id: 1)], [.fixture(id: 2)], [.fixture(id: 4)], [.fixture(id: 4)],
        ])
        let list = list(finder)
        var ids: [[Int]] = []
        await list.load()
        ids.append(list.places.map(\.id))
        while list.hasMore {
            await list.loadMore()
            ids.append(list.places.map(\.id))
        }
        #expect(ids == [[1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4]])
        #expect(list.phase == .loaded)
    }

    @Test("No page is loaded while the list loads anew, which then begins with the first page")
    func waitForTheFirst() async {
        let gate = Gate()
        let location = FixedLocation()
        let finder = MockPlaceFinder(pages: Self.pages) { call in
            if case .nearbyPlaces(let request) = call, request.center?.latitude == 37.4 { await gate.pass() }
        }
        let list = list(finder, at: location)
        await list.load()
        await list.loadMore()
        location.outcome = .success(.fixture(latitude: 37.4))
        let refresh = Task { await list.load() }
        await gate.arrival()
        #expect(list.phase == .loading)
        #expect(list.places.count == 40)
        await list.loadMore()
        #expect(list.phase == .loading)
        #expect(finder.calls.count == 4)
        gate.open()
        await refresh.value
        #expect(list.places == Self.pages[0])
        await list.loadMore()
        #expect(list.places == Self.pages[0] + Self.pages[1])
    }

    @Test("A page of the places before isn't appended to new ones")
    func dropsLatePages() async {
        let gate = Gate()
        let isFirst = Lock(false)
        let finder = MockPlaceFinder(pages: Self.pages) { call in
            if call == Self.second, isFirst.claim() { await gate.pass() }
        }
        let list = list(finder)
        await list.load()
        let more = Task { await list.loadMore() }
        await gate.arrival()
        await list.load()
        #expect(list.phase == .loaded)
        gate.open()
        await more.value
        #expect(list.phase == .loaded)
        #expect(list.places == Self.pages[0])
        await list.loadMore()
        #expect(list.places == Self.pages[0] + Self.pages[1])
    }

    @Test("A page that arrives after a failed reload isn't lost, and the failure stays")
    func keepsPagesOfKeptPlaces() async {
        let gate = Gate()
        let location = FixedLocation()
        let finder = MockPlaceFinder(pages: Self.pages) { if $0 == Self.second { await gate.pass() } }
        let list = list(finder, at: location)
        await list.load()
        let more = Task { await list.loadMore() }
        await gate.arrival()
        location.outcome = .failure(.timedOut)
        await list.load()
        #expect(list.phase == .failed(.location(.timedOut)))
        gate.open()
        await more.value
        #expect(list.phase == .failed(.location(.timedOut)))
        #expect(list.places == Self.pages[0] + Self.pages[1])
        await list.loadMore()
        #expect(list.phase == .loaded)
        #expect(list.places == Self.all)
    }

    @Test("A cancelled call restores the phase, and its page is the next one")
    func undoesCancelledCalls() async {
        let gate = Gate()
        let isFirst = Lock(false)
        let finder = MockPlaceFinder(pages: Self.pages) { call in
            if call == Self.second, isFirst.claim() { await gate.pass() }
        }
        let list = list(finder)
        await list.load()
        let more = Task { await list.loadMore() }
        await gate.arrival()
        more.cancel()
        await more.value
        #expect(list.phase == .loaded)
        #expect(list.hasMore)
        await list.loadMore()
        #expect(list.places == Self.pages[0] + Self.pages[1])
    }

    @Test(
        "A cancelled reload leaves the load before it alone, whichever ends first", arguments: [true, false])
    func letsTheFirstLoadEnd(isCancelledFirst: Bool) async {
        let gates = [Gate(), Gate()]
        let location = FixedLocation(.fixture(latitude: 0))
        let finder = MockPlaceFinder(pages: Self.pages) { call in
            guard case .nearbyPlaces(let request) = call, let latitude = request.center?.latitude else {
                return
            }
            await gates[Int(latitude)].pass()
        }
        let list = list(finder, at: location)
        let first = Task { await list.load() }
        await gates[0].arrival()
        location.outcome = .success(.fixture(latitude: 1))
        let second = Task { await list.load() }
        await gates[1].arrival()
        if isCancelledFirst {
            second.cancel()
            await second.value
            #expect(list.phase == .loading)
        }
        gates[0].open()
        await first.value
        #expect(list.phase == (isCancelledFirst ? .loaded : .loading))
        second.cancel()
        await second.value
        #expect(list.phase == .loaded)
        #expect(list.places == Self.pages[0])
    }
}
