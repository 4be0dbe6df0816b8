import Foundation
import PointsOfInterestTesting
import Testing

@Suite("A check of the current location", .timeLimit(.minutes(1)))
@MainActor
struct CurrentLocationCheckTests {
    private func status(
        _ outcome: MockLocationFetcher.Outcome, authorization: LocationAuthorization = .fullAccuracy,
        finder: MockPlaceFinder = MockPlaceFinder([.fixture()])
    ) async -> CurrentLocationProvider.Status {
        let fetcher = MockLocationFetcher(locationAuthorization: authorization) { outcome }
        let provider = CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: NotificationCenter(), placeFinder: finder,
            timerScheduler: MockTimerScheduler(firesAtOnce: false))
        return await provider.checkCurrentLocation()
    }

    @Test(
        "A check asks for the nearest place within the fix's accuracy, at least 100 m",
        arguments: [(0.0, 100.0), (10, 100), (100, 100), (100.5, 100.5), (499, 499), (500, 500)])
    func asksWithinAccuracy(accuracy: Double, radius: Double) async throws {
        let finder = MockPlaceFinder([.fixture(id: 7), .fixture(id: 8)])
        let status = await status(.fix(.fixture(horizontalAccuracy: accuracy)), finder: finder)
        #expect(status == .atPointOfInterest(.fixture(id: 7)))
        #expect(status.isPointOfInterest == true)
        let center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        #expect(finder.requests == [NearbyPlacesRequest(center: center, radiusMeters: radius, limit: 1)])
    }

    @Test("The status is elsewhere if no place is near enough")
    func isElsewhere() async {
        let status = await status(.fix(.fixture()), finder: MockPlaceFinder([]))
        #expect(status == .elsewhere)
        #expect(status.isPointOfInterest == false)
    }

    @Test(
        "The status is unknown for an invalid or inaccurate fix, and nothing is requested",
        arguments: [
            LocationFix.fixture(horizontalAccuracy: -1), .fixture(horizontalAccuracy: -0.001),
            .fixture(horizontalAccuracy: 500.1), .fixture(horizontalAccuracy: 3_000),
            .fixture(horizontalAccuracy: .nan), .fixture(horizontalAccuracy: .infinity),
            .fixture(latitude: 90.1), .fixture(longitude: -180.1), .fixture(latitude: .nan),
        ])
    func cannotTell(fix: LocationFix) async {
        let finder = MockPlaceFinder([.fixture()])
        let status = await status(.fix(fix), finder: finder)
        #expect(status == .unknown)
        #expect(status.isPointOfInterest == nil)
        #expect(finder.requests.isEmpty)
    }

    @Test(
        "What the device does, and what it doesn't, is a status",
        arguments: [
            (.fixes([]), .fullAccuracy, .unknown),
            (.failure(.fixture(code: 7)), .fullAccuracy, .locationFailed(.fixture(code: 7))),
            // A refusal while it determines its location.
            (.failure(.fixture(code: 1, isDenied: true)), .fullAccuracy, .notAuthorized),
            // An approximate permission is enough, and the fix's accuracy decides.
            (.fix(.fixture(horizontalAccuracy: 4_000)), .reducedAccuracy, .unknown),
        ] as [(MockLocationFetcher.Outcome, LocationAuthorization, CurrentLocationProvider.Status)])
    func tellsOfTheDevice(
        outcome: MockLocationFetcher.Outcome, authorization: LocationAuthorization,
        expected: CurrentLocationProvider.Status
    ) async {
        #expect(await status(outcome, authorization: authorization) == expected)
    }

    @Test("The newest of several fixes is used")
    func takesTheNewest() async {
        let finder = MockPlaceFinder([])
        _ = await status(.fixes([.fixture(latitude: 1), .fixture(latitude: 2)]), finder: finder)
        #expect(finder.requests.map(\.center?.latitude) == [2])
    }

    @Test(
        "Nothing is requested where the app has no permission",
        arguments: [LocationAuthorization.denied, .restricted])
    func respectsRefusals(authorization: LocationAuthorization) async {
        let finder = MockPlaceFinder([.fixture()])
        #expect(
            await status(.fix(.fixture()), authorization: authorization, finder: finder) == .notAuthorized)
        #expect(finder.requests.isEmpty)
    }

    @Test(
        "A failed request is a status with its error",
        arguments: [
            RequestError.problem(Problem(.databaseBusy)), .unexpectedStatus(502), .notHTTP,
            .transport(code: -1009, reason: "offline"),
        ])
    func tellsRequestErrors(error: RequestError) async {
        let status = await status(.fix(.fixture()), finder: MockPlaceFinder { _ in throw error })
        #expect(status == .requestFailed(error))
        #expect(status.isPointOfInterest == nil)
    }

    @Test("An error of another type counts as one of transport")
    func tellsOtherErrors() async {
        let status = await status(
            .fix(.fixture()), finder: MockPlaceFinder { _ in throw URLError(.timedOut) })
        guard case .requestFailed(let error) = status else {
            Issue.record("\(status)")
            return
        }
        #expect(error.urlErrorCode == .timedOut)
    }

    @Test("A check calls its handler once, on the main thread, after the call has returned")
    func callsTheHandler() async {
        let provider = CurrentLocationProvider(
            locationFetcher: MockLocationFetcher(), notificationCenter: NotificationCenter(),
            placeFinder: MockPlaceFinder([.fixture()]), timerScheduler: MockTimerScheduler())
        let order = Order()
        let (statuses, continuation) = AsyncStream.makeStream(of: CurrentLocationProvider.Status.self)
        provider.checkCurrentLocation { status in
            MainActor.assertIsolated()
            #expect(order.hasReturned)
            if case .terminated = continuation.yield(status) { Issue.record("called again") }
            continuation.finish()
        }
        order.hasReturned = true
        var received: [CurrentLocationProvider.Status] = []
        for await status in statuses { received.append(status) }
        #expect(received == [.atPointOfInterest(.fixture())])
    }

    @Test("A check that is cancelled calls its handler")
    func cancelsTheHandlersCheck() async {
        let fetcher = MockLocationFetcher { .nothing }
        let provider = CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: NotificationCenter(),
            placeFinder: MockPlaceFinder([]), timerScheduler: MockTimerScheduler(firesAtOnce: false))
        let statuses = AsyncStream<CurrentLocationProvider.Status> { continuation in
            let task = provider.checkCurrentLocation { status in
                continuation.yield(status)
                continuation.finish()
            }
            task.cancel()
        }
        for await status in statuses { #expect(status == .cancelled) }
    }
}

@MainActor
private final class Order {
    var hasReturned = false
}

@Suite("The app's access to the location", .timeLimit(.minutes(1)))
@MainActor
struct LocationAuthorizationTests {
    private let center = MockNotificationCenter()

    private func provider(_ fetcher: MockLocationFetcher) -> CurrentLocationProvider {
        CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: center, placeFinder: MockPlaceFinder([.fixture()]),
            timerScheduler: MockTimerScheduler(firesAtOnce: false))
    }

    @Test("The first check asks the person for permission, and goes on when they give it")
    func asksThePerson() async {
        let fetcher = MockLocationFetcher(locationAuthorization: .notDetermined)
        fetcher.handleRequestAuthorization = { .fullAccuracy }
        let provider = provider(fetcher)
        #expect(await provider.checkCurrentLocation() == .atPointOfInterest(.fixture()))
        #expect(fetcher.events == [.requestedAuthorization, .requestedLocation])
        #expect(center.postedNames == [CurrentLocationProvider.authChangedNotification])
    }

    @Test("The first check ends when the person refuses permission")
    func respectsTheDecision() async {
        let fetcher = MockLocationFetcher(locationAuthorization: .notDetermined)
        fetcher.handleRequestAuthorization = { .denied }
        let provider = provider(fetcher)
        #expect(await provider.checkCurrentLocation() == .notAuthorized)
        #expect(fetcher.events == [.requestedAuthorization])
    }

    @Test("A check waits while the person has not decided")
    func waitsForTheDecision() async {
        let fetcher = MockLocationFetcher(locationAuthorization: .notDetermined)
        let provider = provider(fetcher)
        let check = Task { await provider.checkCurrentLocation() }
        for await event in fetcher.eventStream where event == .requestedAuthorization { break }
        // The system also calls where nothing has changed.
        fetcher.locationAuthorization = .notDetermined
        #expect(fetcher.events == [.requestedAuthorization])
        #expect(center.postedNames.isEmpty)
        fetcher.locationAuthorization = .reducedAccuracy
        #expect(await check.value == .atPointOfInterest(.fixture()))
    }

    @Test("A check ends when the permission is withdrawn")
    func isTakenAway() async {
        let fetcher = MockLocationFetcher { .nothing }
        let provider = provider(fetcher)
        let check = Task { await provider.checkCurrentLocation() }
        for await event in fetcher.eventStream where event == .requestedLocation { break }
        fetcher.locationAuthorization = .denied
        #expect(await check.value == .notAuthorized)
    }

    @Test("A change of the permission is posted to the injected center only")
    func postsChanges() {
        let defaultCenterPosts = Posts(of: CurrentLocationProvider.authChangedNotification, in: .default)
        defer { defaultCenterPosts.stop() }
        let fetcher = MockLocationFetcher(locationAuthorization: .notDetermined)
        let provider = provider(fetcher)
        let posts = Posts(of: CurrentLocationProvider.authChangedNotification, in: center)
        // As the system does when it gets its delegate: no news.
        fetcher.locationAuthorization = .notDetermined
        #expect(posts.senders.isEmpty)
        fetcher.locationAuthorization = .fullAccuracy
        fetcher.locationAuthorization = .fullAccuracy
        #expect(posts.senders.count == 1)
        fetcher.locationAuthorization = .reducedAccuracy
        #expect(posts.senders == [ObjectIdentifier(provider), ObjectIdentifier(provider)])
        #expect(defaultCenterPosts.senders.isEmpty)
    }

    @Test("The person isn't asked before the first check")
    func asksNothingAtStart() {
        let fetcher = MockLocationFetcher(locationAuthorization: .notDetermined)
        let provider = provider(fetcher)
        #expect(fetcher.events.isEmpty)
        #expect(fetcher.desiredAccuracy == 100)
        #expect(fetcher.locationFetcherDelegate === provider)
    }
}

/// Who posted notifications of a name to a center while this existed, on the main thread.
@MainActor
private final class Posts {
    private(set) var senders: [ObjectIdentifier?] = []

    private let center: NotificationCenter
    private var token: (any NSObjectProtocol)?

    init(of name: Notification.Name, in center: NotificationCenter) {
        self.center = center
        token = center.addObserver(forName: name, object: nil, queue: nil) { [weak self] notification in
            let sender = (notification.object as AnyObject?).map { ObjectIdentifier($0) }
            MainActor.assumeIsolated { self?.senders.append(sender) }
        }
    }

    func stop() {
        if let token { center.removeObserver(token) }
    }
}
