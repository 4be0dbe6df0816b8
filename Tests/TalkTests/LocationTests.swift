import PointsOfInterestTesting
import XCTest

// The talk's listings about mocking with protocols, in its order: see Documentation/testing.md, which says what differs.

/// The talk's mock, written as it is there against this package's protocol. `PointsOfInterestTesting` has a
/// `MockLocationFetcher` that does more; this one hides it.
@MainActor
private final class MockLocationFetcher: LocationFetcher {
    weak var locationFetcherDelegate: (any LocationFetcherDelegate)?

    var desiredAccuracy: Double = 0
    let locationAuthorization = LocationAuthorization.fullAccuracy

    var handleRequestLocation: (() -> LocationFix)?
    func requestLocation() {
        guard let location = handleRequestLocation?() else { return }
        locationFetcherDelegate?.locationFetcher(self, didUpdateLocations: [location])
    }

    func requestWhenInUseAuthorization() {}
    func stopUpdatingLocation() {}
}

@MainActor
final class CurrentLocationProviderTests: XCTestCase {
    func testMakingAProvider() async {
        let locationFetcher = MockLocationFetcher()
        let provider = CurrentLocationProvider(
            locationFetcher: locationFetcher, placeFinder: MockPlaceFinder([]))
        XCTAssertNotEqual(locationFetcher.desiredAccuracy, 0)
        XCTAssertIdentical(locationFetcher.locationFetcherDelegate, provider)
    }

    func testCheckCurrentLocation() async {
        let locationFetcher = MockLocationFetcher()
        let requestLocationExpectation = expectation(description: "request location")
        locationFetcher.handleRequestLocation = {
            requestLocationExpectation.fulfill()
            return LocationFix(latitude: 37.3293, longitude: -121.8893, horizontalAccuracy: 10)
        }

        let provider = CurrentLocationProvider(
            locationFetcher: locationFetcher, placeFinder: MockPlaceFinder([.fixture()]))
        let completionExpectation = expectation(description: "completion")
        provider.checkCurrentLocation { status in
            XCTAssertEqual(status.isPointOfInterest, true)
            completionExpectation.fulfill()
        }

        // Can mock the current location
        await fulfillment(of: [requestLocationExpectation, completionExpectation], timeout: 1)
    }

    /// The same with the mock of `PointsOfInterestTesting`, and `async`: nothing is waited for.
    func testCheckCurrentLocationWithoutExpectations() async {
        let locationFetcher = PointsOfInterestTesting.MockLocationFetcher()
        let provider = CurrentLocationProvider(
            locationFetcher: locationFetcher, placeFinder: MockPlaceFinder([.fixture()]))
        let status = await provider.checkCurrentLocation()
        XCTAssertEqual(status, .atPointOfInterest(.fixture()))
        XCTAssertEqual(locationFetcher.events, [.requestedLocation])
    }
}
