/// A device's sense of place: what the kit needs of Core Location's `CLLocationManager`, which conforms.
///
/// On the main actor, because a location manager calls back on the run loop of the thread that made it.
@MainActor
public protocol LocationFetcher: AnyObject {
    /// Who is told what happens; held weakly.
    ///
    /// `CLLocationManager` takes only one that is its own kind of delegate too, as `CurrentLocationProvider` is.
    var locationFetcherDelegate: (any LocationFetcherDelegate)? { get set }
    /// How exact a fix should be, in metres.
    var desiredAccuracy: Double { get set }
    /// Whether the app may ask for locations.
    var locationAuthorization: LocationAuthorization { get }

    /// Asks the person for permission to know the location while the app is in use, unless they have decided.
    func requestWhenInUseAuthorization()
    /// Asks for one fix: the delegate is told of it, or of a failure, at once or later. Asking again before
    /// that begins anew.
    func requestLocation()
    /// Gives up what `requestLocation` asked for.
    func stopUpdatingLocation()
}
