import Foundation
import PointsOfInterestTesting
import Testing

@Suite("A list of the places nearby", .timeLimit(.minutes(1)))
@MainActor
struct PointsOfInterestListTests {
    private let center = NotificationCenter()

    private func list(
        _ finder: MockPlaceFinder, at location: FixedLocation = FixedLocation(),
        request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil)
    ) -> PointsOfInterestList {
        PointsOfInterestList(
            placeFinder: finder, locationSource: location, notificationCenter: center, request: request)
    }

    @Test("A list is idle, then loading, then loaded with the places around the current location")
    func loads() async throws {
        let finder = MockPlaceFinder(.fixtures(2))
        var list: PointsOfInterestList? = list(
            finder, request: NearbyPlacesRequest(center: nil, limit: 5, categories: ["museum"]))
        let updates = list?.updates()
        await list?.load()
        #expect(list?.places == .fixtures(2))
        let position = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        #expect(
            finder.requests == [NearbyPlacesRequest(center: position, limit: 5, categories: ["museum"])])
        list = nil
        var states: [PointsOfInterestList.State] = []
        if let updates { for await state in updates { states.append(state) } }
        #expect(states.map(\.phase) == [.idle, .loading, .loaded])
        #expect(states.map(\.places) == [[], [], .fixtures(2)])
    }

    @Test("A list may be empty")
    func isEmpty() async {
        let list = list(MockPlaceFinder([]))
        await list.load()
        #expect(list.phase == .loaded)
        #expect(list.places.isEmpty)
    }

    @Test(
        "A load without a location fails and requests nothing",
        arguments: [LocationError.notAuthorized, .failed(.fixture()), .timedOut, .invalidFix])
    func failsWithoutALocation(error: LocationError) async {
        let finder = MockPlaceFinder(.fixtures(2))
        let list = list(finder, at: FixedLocation(error))
        await list.load()
        #expect(list.phase == .failed(.location(error)))
        #expect(LoadError.location(error).localizedDescription == error.localizedDescription)
        #expect(finder.requests.isEmpty)
    }

    @Test("A load with an invalid fix fails")
    func failsWithAnInvalidFix() async {
        let list = list(MockPlaceFinder(.fixtures(2)), at: FixedLocation(.fixture(horizontalAccuracy: -1)))
        await list.load()
        #expect(list.phase == .failed(.location(.invalidFix)))
    }

    @Test("A list keeps its places while it loads anew, and if that fails")
    func keepsPlaces() async {
        let gate = Gate()
        let location = FixedLocation()
        let finder = MockPlaceFinder { request in
            guard request.center?.latitude == 37.4 else { return .fixtures(2) }
            await gate.pass()
            throw RequestError.unexpectedStatus(502)
        }
        let list = list(finder, at: location)
        await list.load()
        location.outcome = .success(.fixture(latitude: 37.4))
        let load = Task { await list.load() }
        await gate.arrival()
        #expect(list.phase == .loading)
        #expect(list.places == .fixtures(2))
        gate.open()
        await load.value
        #expect(list.phase == .failed(.request(.unexpectedStatus(502))))
        #expect(list.places == .fixtures(2))
        #expect(!list.isKept)
        #expect(finder.calls.count == 3, "it looks for a kept page only where it shows none")
    }

    @Test("A list loads anew when the app's access to the location changes")
    func reloads() async {
        let location = FixedLocation(.notAuthorized)
        let list = list(MockPlaceFinder(.fixtures(2)), at: location)
        await list.load()
        #expect(list.phase == .failed(.location(.notAuthorized)))
        location.outcome = .success(.fixture())
        let updates = list.updates()
        center.post(name: CurrentLocationProvider.authChangedNotification, object: nil)
        for await state in updates where state.phase == .loaded { break }
        #expect(list.places == .fixtures(2))
    }

    @Test("A list shows the response to the last of several loads, whichever arrives first")
    func dropsLateResponses() async {
        let gate = Gate()
        let location = FixedLocation(.fixture(latitude: 1))
        let list = list(
            MockPlaceFinder { request in
                guard request.center?.latitude == 1 else { return [.fixture(id: 2)] }
                await gate.pass()
                return [.fixture(id: 1)]
            }, at: location)
        let late = Task { await list.load() }
        await gate.arrival()
        location.outcome = .success(.fixture(latitude: 2))
        await list.load()
        gate.open()
        await late.value
        #expect(list.phase == .loaded)
        #expect(list.places == [.fixture(id: 2)])
    }

    @Test("A cancelled load restores the state from before")
    func undoesCancelledLoads() async {
        let gate = Gate()
        let location = FixedLocation()
        let list = list(
            MockPlaceFinder { request in
                guard request.center?.latitude == 37.4 else { return .fixtures(2) }
                await gate.pass()
                throw CancellationError()
            }, at: location)
        await list.load()
        location.outcome = .success(.fixture(latitude: 37.4))
        let load = Task { await list.load() }
        await gate.arrival()
        load.cancel()
        gate.open()
        await load.value
        #expect(list.phase == .loaded)
        #expect(list.places == .fixtures(2))
    }

    @Test("A list is released with its observation")
    func isReleased() async {
        let finder = MockPlaceFinder(.fixtures(1))
        weak var released: PointsOfInterestList?
        do {
            let list = list(finder)
            await list.load()
            released = list
        }
        #expect(released == nil)
        center.post(name: CurrentLocationProvider.authChangedNotification, object: nil)
        #expect(finder.requests.count == 1)
    }
}

/// A location source that a test controls.
@MainActor
final class FixedLocation: CurrentLocationSource {
    var lastLocation: Coordinate?
    var outcome: Result<LocationFix, LocationError>

    init(_ fix: LocationFix = .fixture()) {
        lastLocation = fix.coordinate
        outcome = .success(fix)
    }

    init(_ error: LocationError) {
        outcome = .failure(error)
    }

    func currentLocation() async throws(LocationError) -> LocationFix { try outcome.get() }
}

extension PointOfInterest {
    /// The same place without its distance, as it is kept.
    var withoutDistance: PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured, address: address, website: website, source: source, importance: importance,
            properties: properties, language: language, matchedName: matchedName)
    }
}

/// What a stand-in waits at until the test lets it go on: an order of events, without time.
final class Gate: Sendable {
    private let arrivals = AsyncStream.makeStream(of: Void.self)
    private let opening = AsyncStream.makeStream(of: Void.self)

    /// Says that the stand-in is here, and waits until the gate is open.
    func pass() async {
        arrivals.continuation.yield()
        for await _ in opening.stream {}
    }

    /// Waits until a stand-in is here.
    func arrival() async {
        for await _ in arrivals.stream { return }
    }

    func open() {
        opening.continuation.finish()
    }
}
