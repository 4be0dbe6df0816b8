import PointsOfInterestClient

/// A sense of place for a machine without one: it is where the person says.
@MainActor
public final class GivenLocation: LocationFetcher {
    public weak var locationFetcherDelegate: (any LocationFetcherDelegate)?
    public var desiredAccuracy = 0.0
    public let locationAuthorization = LocationAuthorization.fullAccuracy

    private let fix: LocationFix

    public init(_ fix: LocationFix) {
        self.fix = fix
    }

    public func requestWhenInUseAuthorization() {}

    public func requestLocation() {
        locationFetcherDelegate?.locationFetcher(self, didUpdateLocations: [fix])
    }

    public func stopUpdatingLocation() {}
}
