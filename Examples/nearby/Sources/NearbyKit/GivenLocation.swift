import PointsOfInterestClient

/// A sense of place for a machine without one: it is where the person says.
@MainActor
public final class GivenLocation: LocationFetcher {
    /// Who is told.
    public weak var locationFetcherDelegate: (any LocationFetcherDelegate)?
    /// Makes no difference.
    public var desiredAccuracy = 0.0
    /// Nobody needs to be asked.
    public let locationAuthorization = LocationAuthorization.fullAccuracy

    private let fix: LocationFix

    /// Makes a sense of place that is always here.
    public init(_ fix: LocationFix) {
        self.fix = fix
    }

    /// Asks nobody.
    public func requestWhenInUseAuthorization() {}

    /// Tells the fix at once.
    public func requestLocation() {
        locationFetcherDelegate?.locationFetcher(self, didUpdateLocations: [fix])
    }

    /// Has nothing to give up.
    public func stopUpdatingLocation() {}
}
