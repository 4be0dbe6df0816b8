import Locking
import Observation
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP
import PointsOfInterestTesting
import Testing

/// Each property of each model, one after another. Where there is Combine: `ObservableObjectTests`.
@Suite("Every observable property is announced", .timeLimit(.minutes(1)))
@MainActor
struct ObservationTests {
    @Test("A list of the places nearby announces each of its properties")
    func list() async { await check(.list()) }

    @Test("The featured places announce each of their properties")
    func featured() async { await check(.featured()) }

    @Test("The places of a map announce each of their properties")
    func map() async { await check(.map()) }

    @Test("Favourites announce each of their properties")
    func favorites() async { await check(.favorites()) }

    @Test("A value that is loaded announces each of its properties")
    func value() async { await check(.categories()) }

    @Test("A search announces each of its properties")
    func search() async { await check(.search()) }

    private func check<State>(_ observed: ObservedModel<State>) async {
        #expect(observed.properties.map { $0.name } == observed.propertyNames, "a property without its test")
        #expect(observed.unobserved == observed.storedNames, "a property that isn't announced")
        let model = observed.model
        for property in observed.properties {
            let before = model.state
            let valueBefore = property.read()
            let seen = Lock<[State]>([])
            withObservationTracking {
                _ = property.read()
            } onChange: {
                MainActor.assumeIsolated { seen.withLock { $0.append(model.state) } }
            }
            var updates = model.updates().makeAsyncIterator()
            property.change(&model.state)
            #expect(seen.withLock { $0 } == [before], "\(property.name), once, before it changes")
            #expect(property.read() != valueBefore)
            #expect(await updates.next() == before)
            #expect(await updates.next() == model.state)
        }
    }

    @Test("A state that is set to the same value isn't announced")
    func saysNothingTwice() async {
        let list = AppEnvironment.mock().makeList()
        let updates = list.updates()
        let isAnnounced = Lock(false)
        withObservationTracking {
            _ = list.phase
        } onChange: {
            isAnnounced.withLock { $0 = true }
        }
        list.state.phase = .idle
        #expect(!isAnnounced.withLock { $0 })
        list.request.limit = 7
        var states: [PointsOfInterestList.State] = []
        for await state in updates {
            states.append(state)
            if state.request.limit == 7 { break }
        }
        #expect(states.count == 2)
    }

    @Test("A failed refresh of the featured places is announced, and so is one that changes only the others")
    func announcesRefreshes() async {
        let found = Lock<[PointOfInterest]?>(.fixtures(2))
        let manager = FeaturedPlaceManager(
            placeFinder: MockPlaceFinder { _ in
                guard let found = found.withLock({ $0 }) else { throw RequestError.notHTTP }
                return found
            }, locationSource: FixedLocation(), timerScheduler: MockTimerScheduler(firesAtOnce: false))
        await manager.load()
        for next in [nil, [PointOfInterest].fixtures(3)] {
            found.withLock { $0 = next }
            let isAnnounced = Lock(false)
            withObservationTracking {
                _ = (manager.phase, manager.places)
            } onChange: {
                isAnnounced.withLock { $0 = true }
            }
            await manager.load()
            #expect(isAnnounced.withLock { $0 })
        }
        #expect(manager.currentPlace?.id == 1)
    }

    @Test("A model's streams end with the model")
    func endsStreams() async {
        var map: PlacesMap? = PlacesMap(placeFinder: MockPlaceFinder([]))
        let updates = [map?.updates(), map?.updates()].compactMap(\.self)
        map = nil
        for stream in updates {
            var count = 0
            for await _ in stream { count += 1 }
            #expect(count == 1)
        }
    }
}
