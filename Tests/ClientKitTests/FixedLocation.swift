import PointsOfInterestTesting

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
