import Foundation
import PointsOfInterestTesting
import Testing

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
