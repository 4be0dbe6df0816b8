import Foundation
import PointsOfInterestTesting
import Testing

@Suite("A mock", .timeLimit(.minutes(1)))
@MainActor
struct MockTests {
    @Test("A mock scheduler fires a timer once, at once, and records its delay")
    func schedulerFires() {
        let scheduler = MockTimerScheduler()
        let fired = Counter()
        let timer = Timer(fire: Date(timeIntervalSinceNow: 7), interval: 7, repeats: true) { _ in
            MainActor.assumeIsolated { fired.count += 1 }
        }
        scheduler.add(timer, forMode: .common)
        #expect(fired.count == 1)
        #expect(scheduler.delays == [7])
        #expect(scheduler.timers == [timer])
    }

    @Test("A mock scheduler can wait for the test, and skips invalidated timers")
    func schedulerWaits() {
        let scheduler = MockTimerScheduler(firesAtOnce: false)
        let fired = Counter()
        for _ in 0..<2 {
            let timer = Timer(fire: Date(timeIntervalSinceNow: 3_600), interval: 0, repeats: false) { _ in
                MainActor.assumeIsolated { fired.count += 1 }
            }
            scheduler.add(timer, forMode: .default)
        }
        scheduler.timers.first?.invalidate()
        #expect(fired.count == 0)
        scheduler.fire()
        scheduler.fire()
        #expect(fired.count == 1)
        #expect(scheduler.delays.allSatisfy { $0 > 0 && $0 <= 3_600 })
    }

    @Test("In a mock environment no time passes by itself, so a fix may come later than its request")
    func environmentWaitsForFix() async throws {
        let fetcher = MockLocationFetcher { .nothing }
        let environment = AppEnvironment.mock(locationFetcher: fetcher)
        async let fix = environment.locationProvider.currentLocation()
        for await event in fetcher.eventStream where event == .requestedLocation { break }
        fetcher.send(.fix(.fixture(latitude: 1, longitude: 2)))
        #expect(try await fix == .fixture(latitude: 1, longitude: 2))
    }

    @Test("A test lets the time limit of a fix pass with a scheduler of its own")
    func environmentTimesOut() async throws {
        let fetcher = MockLocationFetcher { .nothing }
        let scheduler = MockTimerScheduler(firesAtOnce: false)
        let environment = AppEnvironment.mock(timerScheduler: scheduler, locationFetcher: fetcher)
        async let status = environment.locationProvider.checkCurrentLocation()
        for await event in fetcher.eventStream where event == .requestedLocation { break }
        scheduler.fire()
        #expect(await status == .locationTimedOut)
    }

    @Test("A mock notification center records what is posted to it, and nothing else")
    func centerTakesNotes() {
        let center = MockNotificationCenter()
        let other = MockNotificationCenter()
        let name = Notification.Name("name")
        center.post(name: name, object: nil)
        center.post(Notification(name: name))
        NotificationCenter.default.post(name: name, object: nil)
        #expect(center.postedNames == [name, name])
        #expect(other.postedNames.isEmpty)
    }

    @Test("A mock place finder records its requests")
    func finderTakesNotes() async throws {
        let finder = MockPlaceFinder { request in
            guard request.limit == 1 else { throw RequestError.notHTTP }
            return .fixtures(1)
        }
        #expect(try await finder.places(NearbyPlacesRequest(center: nil, limit: 1)) == .fixtures(1))
        await #expect(throws: RequestError.notHTTP) {
            try await finder.places(NearbyPlacesRequest(center: nil, limit: 2))
        }
        #expect(finder.requests.map(\.limit) == [1, 2])
    }

    @Test(
        "A closure that makes places is asked for those by id and in clusters, too, and what it throws fails each call"
    )
    func finderAsksForPlaces() async throws {
        let finder = MockPlaceFinder { _ in .fixtures(3) }
        #expect(try await finder.places(ids: [2, 9]).map(\.id) == [2])
        #expect(try await finder.place(id: 3).id == 3)
        await #expect(throws: RequestError.problem(Problem(.notFound))) { try await finder.place(id: 9) }
        let box = BoundingBox(west: -122, south: 37, east: -121, north: 38)
        let clusters = ClustersRequest(box: try #require(box), zoom: 3)
        #expect(try await finder.clusters(clusters).clusters.count == 3)
        #expect(try await finder.categories().map(\.count) == [3])

        let failing = MockPlaceFinder { _ in throw RequestError.notHTTP }
        await #expect(throws: RequestError.notHTTP) { try await failing.places(ids: [1]) }
        await #expect(throws: RequestError.notHTTP) { try await failing.place(id: 1) }
        await #expect(throws: RequestError.notHTTP) { try await failing.clusters(clusters) }
        await #expect(throws: RequestError.notHTTP) { try await failing.categories() }
        await #expect(throws: RequestError.notHTTP) { try await failing.attributions() }
    }

    @Test("A mock location fetcher calls its delegate at once or when the test says so, and holds it weakly")
    func fetcherCallsDelegate() {
        let fetcher = MockLocationFetcher()
        var delegate: LocationNotes? = LocationNotes()
        weak let held = delegate
        fetcher.locationFetcherDelegate = delegate
        fetcher.requestLocation()
        #expect(delegate?.notes == ["fixes 1"])
        fetcher.handleRequestLocation = { .nothing }
        fetcher.requestLocation()
        #expect(delegate?.notes == ["fixes 1"])
        fetcher.send(.failure(.fixture()))
        fetcher.locationAuthorization = .denied
        #expect(delegate?.notes == ["fixes 1", "failure", "authorization"])
        #expect(fetcher.events == [.requestedLocation, .requestedLocation])
        delegate = nil
        #expect(held == nil)
    }
}

@MainActor
private final class Counter {
    var count = 0
}

@MainActor
private final class LocationNotes: LocationFetcherDelegate {
    var notes: [String] = []

    func locationFetcher(_ fetcher: any LocationFetcher, didUpdateLocations locations: [LocationFix]) {
        notes.append("fixes \(locations.count)")
    }

    func locationFetcher(_ fetcher: any LocationFetcher, didFailWithError error: LocationFailure) {
        notes.append("failure")
    }

    func locationFetcherDidChangeAuthorization(_ fetcher: any LocationFetcher) {
        notes.append("authorization")
    }
}
