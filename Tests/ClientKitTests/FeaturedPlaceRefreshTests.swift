import Foundation
import PointsOfInterestTesting
import Testing

@Suite("A refresh of the featured places", .timeLimit(.minutes(1)))
@MainActor
struct FeaturedPlaceRefreshTests {
    private let scheduler = MockTimerScheduler(firesAtOnce: false)
    private let location = FixedLocation()

    private func manager(_ finder: MockPlaceFinder) -> FeaturedPlaceManager {
        FeaturedPlaceManager(placeFinder: finder, locationSource: location, timerScheduler: scheduler)
    }

    /// A service with these outcomes, one after another.
    private func finder(_ outcomes: [Result<[PointOfInterest], RequestError>]) -> MockPlaceFinder {
        let rest = AsyncStream { continuation in
            for outcome in outcomes { continuation.yield(outcome) }
            continuation.finish()
        }
        return MockPlaceFinder { _ in
            for await outcome in rest { return try outcome.get() }
            throw RequestError.unexpectedStatus(599)
        }
    }

    @Test("A refresh requests the places near the last location")
    func asksNearTheLastLocation() async throws {
        let finder = MockPlaceFinder(.fixtures(2, featured: true))
        let manager = manager(finder)
        await manager.load()
        let moved = try Coordinate(latitude: 1, longitude: 2)
        location.lastLocation = moved
        await manager.load()
        let first = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        #expect(
            finder.requests == [
                NearbyPlacesRequest(center: first, limit: 20, featured: true),
                NearbyPlacesRequest(center: moved, limit: 20, featured: true),
            ])
        #expect(manager.places == .fixtures(2, featured: true))
        #expect(manager.currentPlace?.id == 1)
    }

    @Test("A refresh before the first fix asks for the current location")
    func asksForTheFirstFix() async throws {
        let finder = MockPlaceFinder(.fixtures(2))
        let manager = manager(finder)
        location.lastLocation = nil
        location.outcome = .success(.fixture(latitude: 5, longitude: 6))
        await manager.load()
        #expect(finder.requests.map(\.center) == [try Coordinate(latitude: 5, longitude: 6)])
        #expect(manager.currentPlace?.id == 1)
        #expect(manager.phase == .loaded)
    }

    @Test(
        "Nothing is requested without a location, the current place stays, and the failure is shown",
        arguments: [LocationError.notAuthorized, .failed(.fixture()), .timedOut, .invalidFix])
    func needsALocation(error: LocationError) async {
        let finder = MockPlaceFinder(.fixtures(2))
        let manager = manager(finder)
        await manager.load()
        location.lastLocation = nil
        location.outcome = .failure(error)
        await manager.load()
        #expect(finder.requests.count == 1)
        #expect(manager.currentPlace?.id == 1)
        #expect(manager.phase == .failed(.location(error)))
    }

    @Test("A refresh with an invalid first fix fails")
    func needsAValidFix() async {
        let finder = MockPlaceFinder(.fixtures(2))
        let manager = manager(finder)
        location.lastLocation = nil
        location.outcome = .success(.fixture(horizontalAccuracy: -1))
        await manager.load()
        #expect(finder.requests.isEmpty)
        #expect(manager.phase == .failed(.location(.invalidFix)))
    }

    @Test("A cancelled refresh changes nothing")
    func undoesCancelledRefreshes() async {
        let manager = manager(finder([.success(.fixtures(2)), .failure(.cancelled)]))
        await manager.load()
        let state = manager.state
        await manager.load()
        #expect(manager.state == state)
        location.lastLocation = nil
        location.outcome = .failure(.cancelled)
        await manager.load()
        #expect(manager.state == state)
    }

    @Test("A failed refresh keeps the current place and sets lastError until one succeeds")
    func keepsPlaces() async {
        let manager = manager(
            finder([.success(.fixtures(3)), .failure(.unexpectedStatus(502)), .success(.fixtures(3))]))
        await manager.load()
        manager.showNextPlace()
        await manager.load()
        #expect(manager.currentPlace?.id == 2)
        #expect(manager.places == .fixtures(3))
        #expect(manager.phase == .failed(.request(.unexpectedStatus(502))))
        manager.showNextPlace()
        #expect(manager.currentPlace?.id == 3)
        await manager.load()
        #expect(manager.phase == .loaded)
    }

    @Test("The current place stays while it is among the new ones, and is updated")
    func staysAtThePlace() async {
        let manager = manager(
            finder([
                .success(.fixtures(3)),
                .success([.fixture(id: 9), .fixture(id: 2, name: "New"), .fixture(id: 4)]),
                .success([.fixture(id: 5), .fixture(id: 6)]), .success([]),
            ]))
        await manager.load()
        manager.showNextPlace()
        await manager.load()
        #expect(manager.currentPlace == .fixture(id: 2, name: "New"))
        manager.showNextPlace()
        #expect(manager.currentPlace?.id == 4)
        await manager.load()
        #expect(manager.currentPlace?.id == 5)
        await manager.load()
        #expect(manager.currentPlace == nil)
    }

    @Test("A late response doesn't replace a later refresh")
    func dropsLateResponses() async {
        let gate = Gate()
        let manager = manager(
            MockPlaceFinder { request in
                guard request.center?.latitude == 1 else { return [.fixture(id: 2)] }
                await gate.pass()
                return [.fixture(id: 1)]
            })
        location.lastLocation = try? Coordinate(latitude: 1, longitude: 1)
        let late = Task { await manager.load() }
        await gate.arrival()
        location.lastLocation = try? Coordinate(latitude: 2, longitude: 2)
        await manager.load()
        gate.open()
        await late.value
        #expect(manager.currentPlace?.id == 2)
    }

    @Test("A refresh follows each round of places, one at a time")
    func followsRounds() async {
        let gate = Gate()
        let finder = MockPlaceFinder { request in
            guard request.center?.latitude == 1 else { return .fixtures(2) }
            await gate.pass()
            return [.fixture(id: 7)]
        }
        let manager = manager(finder)
        await manager.load()
        location.lastLocation = try? Coordinate(latitude: 1, longitude: 1)
        manager.scheduleNextPlace()
        scheduler.fire()
        #expect(manager.currentPlace?.id == 2)
        scheduler.fire()
        await gate.arrival()
        for _ in 0..<6 { scheduler.fire() }
        #expect(finder.requests.count == 2)
        let updates = manager.updates()
        gate.open()
        for await state in updates where state.currentPlace?.id == 7 { break }
        #expect(manager.places == [.fixture(id: 7)])
    }

    @Test("What is kept is shown before the location is known, without distances, unless it is far away")
    func showsWhatIsKept() async throws {
        let near = try Coordinate(latitude: 37.4, longitude: -121.9)
        for center in [near, try Coordinate(latitude: 1, longitude: 1)] {
            let page = PlacesPage(places: [.fixture(id: 8, distance: 3)], next: nil, center: center)
            let finder = MockPlaceFinder(pages: [], keptPage: page) { call in
                if case .nearbyPlaces = call { throw RequestError.unexpectedStatus(502) }
                if case .keptPage(let request) = call, request.center != nil { throw RequestError.notHTTP }
            }
            let manager = manager(finder)
            let updates = manager.updates()
            await manager.load()
            #expect(manager.phase == .failed(.request(.unexpectedStatus(502))))
            #expect(manager.currentPlace?.id == (center == near ? 8 : nil))
            #expect(manager.isKept == (center == near))
            for await state in updates where state.isKept {
                #expect(state.places == [.fixture(id: 8).withoutDistance])
                break
            }
        }
    }

    @Test("A manager without places refreshes after an interval")
    func fillsAnEmptyStrip() async {
        let manager = manager(MockPlaceFinder(.fixtures(1)))
        manager.scheduleNextPlace()
        let updates = manager.updates()
        scheduler.fire()
        for await state in updates where state.currentPlace != nil { break }
        #expect(manager.currentPlace?.id == 1)
    }
}
