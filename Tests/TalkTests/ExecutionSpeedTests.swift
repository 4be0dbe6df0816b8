import PointsOfInterestTesting
import XCTest

// The talk's listings about the speed of tests, in its order: see Documentation/testing.md, which says what differs.

/// Where the featured places are searched.
@MainActor
private final class KnownLocation: CurrentLocationSource {
    let lastLocation = try? Coordinate(latitude: 37.3293, longitude: -121.8893)

    func currentLocation() async throws(LocationError) -> LocationFix {
        LocationFix(latitude: 37.3293, longitude: -121.8893, horizontalAccuracy: 10)
    }
}

extension FeaturedPlaceManager {
    /// The talk's `FeaturedPlaceManager()`, which has its places from the start.
    @MainActor
    fileprivate static func withPlaces(
        timerScheduler: any TimerScheduler = RunLoop.main
    ) async -> FeaturedPlaceManager {
        let manager = FeaturedPlaceManager(
            placeFinder: MockPlaceFinder(.fixtures(2, featured: true)), locationSource: KnownLocation(),
            timerScheduler: timerScheduler)
        await manager.load()
        return manager
    }
}

/// The talk's mock, written as it is there against this package's protocol. `PointsOfInterestTesting` has a
/// `MockTimerScheduler` that records the delays by itself; this one hides it.
@MainActor
private final class MockTimerScheduler: TimerScheduler {
    var handleAddTimer: ((_ timer: Timer) -> Void)?
    func add(_ timer: Timer, forMode mode: RunLoop.Mode) {
        handleAddTimer?(timer)
    }
}

@MainActor
final class FeaturedPlaceManagerTests: XCTestCase {
    /// The talk's first form. It isn't a test here: it takes eleven seconds, and fails on a busy machine.
    func waitElevenSecondsForTheNextPlace(of manager: FeaturedPlaceManager) {
        let beforePlace = manager.currentPlace
        manager.scheduleNextPlace()
        RunLoop.current.run(until: Date(timeIntervalSinceNow: 11))
        XCTAssertNotEqual(manager.currentPlace, beforePlace)
    }

    func testScheduleNextPlace() async {
        let timerScheduler = MockTimerScheduler()
        var timerDelay = TimeInterval(0)
        timerScheduler.handleAddTimer = { timer in
            timerDelay = timer.fireDate.timeIntervalSinceNow
            timer.fire()
        }

        let manager = await FeaturedPlaceManager.withPlaces(timerScheduler: timerScheduler)
        let beforePlace = manager.currentPlace
        manager.scheduleNextPlace()

        XCTAssertEqual(timerDelay, 10, accuracy: 1)
        XCTAssertNotEqual(manager.currentPlace, beforePlace)
    }

    /// The same with the mock of `PointsOfInterestTesting`.
    func testScheduleNextPlaceWithTheMockOfThePackage() async {
        let timerScheduler = PointsOfInterestTesting.MockTimerScheduler()
        let manager = await FeaturedPlaceManager.withPlaces(timerScheduler: timerScheduler)
        let beforePlace = manager.currentPlace
        manager.scheduleNextPlace()
        XCTAssertEqual(timerScheduler.delays, [FeaturedPlaceManager.interval])
        XCTAssertNotEqual(manager.currentPlace, beforePlace)
    }

    /// Expectations: the first one polls, the others are fulfilled by what happens.
    func testExpectations() async {
        let loaded = XCTestExpectation(description: "loaded")
        let manager = FeaturedPlaceManager(
            placeFinder: MockPlaceFinder(.fixtures(1, featured: true)), locationSource: KnownLocation())
        let polled = XCTNSPredicateExpectation(
            predicate: NSPredicate { _, _ in
                MainActor.assumeIsolated { manager.currentPlace != nil }
            }, object: nil)
        let notificationCenter = NotificationCenter()
        let name = CurrentLocationProvider.authChangedNotification
        let posted = XCTNSNotificationExpectation(
            name: name, object: nil, notificationCenter: notificationCenter)
        Task {
            await manager.load()
            loaded.fulfill()
            notificationCenter.post(name: name, object: nil)
        }
        await fulfillment(of: [loaded, posted, polled], timeout: 10)
    }
}

/// What the app delegate asks at the launch.
final class AppDelegateTests: XCTestCase {
    func testLaunchingForUnitTests() throws {
        let environment = ["IS_UNIT_TESTING": "1"]
        let isUnitTesting = environment["IS_UNIT_TESTING"] == "1"
        let configuration = try AppConfiguration(
            defaultBaseURL: AppConfiguration.mock.baseURL, arguments: [], environment: environment)
        XCTAssertEqual(configuration.isUnitTesting, isUnitTesting)
    }

    func testLaunchingForTheUser() throws {
        let configuration = try AppConfiguration(
            defaultBaseURL: AppConfiguration.mock.baseURL, arguments: [], environment: [:])
        XCTAssertFalse(configuration.isUnitTesting)
    }
}
