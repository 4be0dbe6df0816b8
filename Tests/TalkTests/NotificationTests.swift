import PointsOfInterestTesting
import XCTest

// The talk's listings about notifications, in its order: see Documentation/testing.md, which says what differs.

/// Observes the default center: so does its test, and everything else in the process.
@MainActor
final class PointsOfInterestTableViewController {
    var observer: (any NSObjectProtocol)?
    private(set) var didHandleNotification = false

    // The talk's second form. The first one has `NotificationCenter.default` in place of the parameter.
    init(notificationCenter: NotificationCenter = .default) {
        let name = CurrentLocationProvider.authChangedNotification
        observer = notificationCenter.addObserver(forName: name, object: nil, queue: .main) { [weak self] _ in
            MainActor.assumeIsolated { self?.handleAuthChanged() }
        }
    }

    func handleAuthChanged() {
        didHandleNotification = true
    }
}

@MainActor
final class PointsOfInterestTableViewControllerTests: XCTestCase {
    func testNotification() async {
        let observer = PointsOfInterestTableViewController()
        defer { observer.observer.map(NotificationCenter.default.removeObserver) }
        XCTAssertFalse(observer.didHandleNotification)

        // Every object in the process gets this, with consequences that nobody meant.
        let name = CurrentLocationProvider.authChangedNotification
        NotificationCenter.default.post(name: name, object: nil)

        XCTAssertTrue(observer.didHandleNotification)
    }

    func testNotificationInACenterOfTheTestsOwn() async {
        let notificationCenter = NotificationCenter()
        let observer = PointsOfInterestTableViewController(notificationCenter: notificationCenter)
        XCTAssertFalse(observer.didHandleNotification)

        let name = CurrentLocationProvider.authChangedNotification
        notificationCenter.post(name: name, object: nil)

        XCTAssertTrue(observer.didHandleNotification)
    }
}

extension CurrentLocationProvider {
    /// The talk's `notifyAuthChanged()`: here the provider posts when its fetcher says that the permission has changed.
    func notifyAuthChanged(by fetcher: MockLocationFetcher) {
        fetcher.locationAuthorization = fetcher.locationAuthorization == .denied ? .fullAccuracy : .denied
    }
}

@MainActor
final class CurrentLocationProviderNotificationTests: XCTestCase {
    let fetcher = MockLocationFetcher()

    func testNotifyAuthChanged() async {
        let poster = CurrentLocationProvider(locationFetcher: fetcher, placeFinder: MockPlaceFinder([]))
        let expectation = self.expectation(description: "auth changed notification")
        let name = CurrentLocationProvider.authChangedNotification
        let observer = NotificationCenter.default.addObserver(forName: name, object: poster, queue: .main) {
            _ in
            expectation.fulfill()
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        poster.notifyAuthChanged(by: fetcher)
        await fulfillment(of: [expectation], timeout: 0)
    }

    func testNotifyAuthChangedInACenterOfTheTestsOwn() async {
        let notificationCenter = NotificationCenter()
        let poster = CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: notificationCenter, placeFinder: MockPlaceFinder([])
        )
        let name = CurrentLocationProvider.authChangedNotification
        let expectation = XCTNSNotificationExpectation(
            name: name, object: poster, notificationCenter: notificationCenter)
        poster.notifyAuthChanged(by: fetcher)
        await fulfillment(of: [expectation], timeout: 0)
    }

    /// The same with this package's center, which records: nothing is waited for.
    func testNotifyAuthChangedInARecordingCenter() async {
        let notificationCenter = MockNotificationCenter()
        let poster = CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: notificationCenter, placeFinder: MockPlaceFinder([])
        )
        poster.notifyAuthChanged(by: fetcher)
        XCTAssertEqual(notificationCenter.postedNames, [CurrentLocationProvider.authChangedNotification])
    }
}
