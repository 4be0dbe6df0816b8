import CoreLocation
import Foundation
import PointsOfInterestTesting
import Testing

@Suite("A provider on a location manager", .timeLimit(.minutes(1)))
@MainActor
struct LocationManagerTests {
    private let manager = CLLocationManager()
    private let center = MockNotificationCenter()

    private func provider(_ status: CLAuthorizationStatus = .authorizedWhenInUse) -> CurrentLocationProvider {
        manager.decide(status)
        return CurrentLocationProvider(
            locationFetcher: manager, notificationCenter: center, placeFinder: MockPlaceFinder([.fixture()]),
            timerScheduler: MockTimerScheduler(firesAtOnce: false))
    }

    private func startCheck(of provider: CurrentLocationProvider) async -> Task<
        CurrentLocationProvider.Status, Never
    > {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            continuation.finish()
            return await provider.checkCurrentLocation()
        }
        for await _ in started {}
        return task
    }

    private func location(_ latitude: Double, accuracy: Double) -> CLLocation {
        CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: -121.8893),
            horizontalAccuracy: accuracy)
    }

    @Test("A provider gets the location manager's fix")
    func getsAFix() async {
        let provider = provider()
        #expect(manager.desiredAccuracy == 100)
        let check = await startCheck(of: provider)
        #expect(manager.calls == ["requestLocation"])
        manager.tell([location(1, accuracy: 5), location(2, accuracy: 5)])
        #expect(await check.value == .atPointOfInterest(.fixture()))
        #expect(provider.lastLocation?.latitude == 2)
    }

    @Test("Core Location's invalid coordinate gives an unknown status")
    func refusesInvalidCoordinates() async {
        let check = await startCheck(of: provider())
        manager.tell([CLLocation(coordinate: kCLLocationCoordinate2DInvalid, horizontalAccuracy: 5)])
        #expect(await check.value == .unknown)
    }

    @Test("A provider gets the location manager's failures")
    func hearsOfFailures() async {
        let provider = provider()
        let check = await startCheck(of: provider)
        manager.tell(CLError(.locationUnknown))
        guard case .locationFailed(let failure) = await check.value else {
            Issue.record("the failure was not told")
            return
        }
        #expect(failure.domain == kCLErrorDomain)
        #expect(failure.code == 0)
        let refused = await startCheck(of: provider)
        manager.tell(CLError(.denied))
        #expect(await refused.value == .notAuthorized)
    }

    @Test("A provider gets a change of the permission once")
    func hearsOfDecisions() async {
        let provider = provider(.notDetermined)
        // What a manager tells every new delegate.
        manager.tellAuthorization()
        #expect(center.postedNames.isEmpty)
        let check = await startCheck(of: provider)
        #expect(manager.calls == ["requestWhenInUseAuthorization"])
        manager.decide(.authorizedWhenInUse)
        manager.tell([location(1, accuracy: 5)])
        #expect(await check.value == .atPointOfInterest(.fixture()))
        #expect(center.postedNames == [CurrentLocationProvider.authChangedNotification])
    }

    @Test(
        "A provider reads every authorisation of Core Location",
        arguments: [
            (
                CLAuthorizationStatus.notDetermined, CLAccuracyAuthorization.fullAccuracy,
                LocationAuthorization.notDetermined
            ),
            (.restricted, .fullAccuracy, .restricted), (.denied, .reducedAccuracy, .denied),
            (.authorizedAlways, .fullAccuracy, .fullAccuracy),
            (.authorizedWhenInUse, .reducedAccuracy, .reducedAccuracy),
        ])
    func readsAuthorisations(
        status: CLAuthorizationStatus, accuracy: CLAccuracyAuthorization, expected: LocationAuthorization
    ) {
        manager.decide(status, accuracy)
        #expect(manager.locationAuthorization == expected)
    }

    @Test("A provider makes its own location manager by default")
    func makesItsManager() {
        let provider = CurrentLocationProvider(placeFinder: MockPlaceFinder([]))
        #expect(provider.lastLocation == nil)
        let environment = AppEnvironment(configuration: .mock)
        #expect(environment.locationProvider.lastLocation == nil)
    }

    @Test("Coordinates are converted to and from Core Location's")
    func convertsCoordinates() throws {
        let coordinate = try Coordinate(CLLocationCoordinate2D(latitude: 1, longitude: 2))
        #expect(CLLocationCoordinate2D(coordinate).longitude == 2)
        #expect(throws: RequestError.invalidCoordinate) {
            try Coordinate(CLLocationCoordinate2D(latitude: 91, longitude: 2))
        }
    }
}

@Suite("The stand-in for a location manager traps")
struct StandInTests {
    final class DeafDelegate: NSObject, CLLocationManagerDelegate {
        func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
    }

    final class WholeDelegate: NSObject, CLLocationManagerDelegate {
        func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
        func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
    }

    @Test("The stand-in traps if a location is requested without a delegate")
    func trapsWithoutADelegate() async {
        await #expect(processExitsWith: .failure) { CLLocationManager().requestLocation() }
    }

    @Test("The stand-in traps if the delegate has no method for failures")
    func trapsWithoutTheMethod() async {
        await #expect(processExitsWith: .failure) {
            let manager = CLLocationManager()
            let delegate = DeafDelegate()
            manager.delegate = delegate
            manager.requestLocation()
            withExtendedLifetime(delegate) {}
        }
    }

    @Test("The stand-in doesn't trap for a complete delegate")
    func letsOthersPass() async {
        await #expect(processExitsWith: .success) {
            let manager = CLLocationManager()
            let delegate = WholeDelegate()
            manager.delegate = delegate
            manager.requestLocation()
            withExtendedLifetime(delegate) {}
            exit(0)
        }
    }
}
