import Foundation

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

/// Who a location fetcher tells what happens.
@MainActor
public protocol LocationFetcherDelegate: AnyObject {
    /// Fixes have come, the newest last.
    func locationFetcher(_ fetcher: any LocationFetcher, didUpdateLocations locations: [LocationFix])
    /// There is no fix to be had.
    func locationFetcher(_ fetcher: any LocationFetcher, didFailWithError error: LocationFailure)
    /// The person may have decided anew; also called where nothing has changed.
    func locationFetcherDidChangeAuthorization(_ fetcher: any LocationFetcher)
}

/// Whether an app may know where its device is.
public enum LocationAuthorization: Hashable, Sendable {
    /// The person has not been asked yet.
    case notDetermined
    /// The person can't allow it: parental controls, or a managed device.
    case restricted
    /// The person refused, or has switched location services off.
    case denied
    /// The person allowed a rough position only, a few kilometres wide.
    case reducedAccuracy
    /// The person allowed it.
    case fullAccuracy
}

/// Where a device was, as it was measured: what the kit needs of Core Location's `CLLocation`.
public struct LocationFix: Hashable, Sendable {
    /// Degrees north, WGS 84; may be out of range where the fix is invalid.
    public var latitude: Double
    /// Degrees east, WGS 84; may be out of range where the fix is invalid.
    public var longitude: Double
    /// The radius in metres that the true position is probably in; negative where the fix is invalid.
    public var horizontalAccuracy: Double

    /// Makes a fix of anything that was measured, valid or not.
    public init(latitude: Double, longitude: Double, horizontalAccuracy: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.horizontalAccuracy = horizontalAccuracy
    }

    /// The position; nil where the fix is invalid: an accuracy that is negative or no number, or degrees out
    /// of range.
    public var coordinate: Coordinate? {
        guard horizontalAccuracy >= 0, horizontalAccuracy.isFinite else { return nil }
        return try? Coordinate(latitude: latitude, longitude: longitude)
    }
}

/// Why a device could not tell where it is: an error of the system's, as a value.
public struct LocationFailure: Error, Hashable, Sendable {
    /// The error's domain, `kCLErrorDomain` where it is Core Location's.
    public var domain: String
    /// The error's code in its domain.
    public var code: Int
    /// What the system says, for people.
    public var reason: String
    /// Whether the person refused, rather than the device failed.
    public var isDenied: Bool

    /// Makes a failure.
    public init(domain: String, code: Int, reason: String, isDenied: Bool = false) {
        self.domain = domain
        self.code = code
        self.reason = reason
        self.isDenied = isDenied
    }
}

/// Why there is no current location.
public enum LocationError: Error, Hashable, Sendable {
    /// The person refused, or can't allow it.
    case notAuthorized
    /// The device failed to find out.
    case failed(LocationFailure)
    /// The device found out nothing in time.
    case timedOut
    /// What came was no position: the fix is invalid.
    case invalidFix
    /// The task that asked was cancelled.
    case cancelled
}

extension LocationError: LocalizedError {
    /// A sentence for people.
    public var errorDescription: String? {
        switch self {
        case .notAuthorized: "The app is not allowed to know your location."
        case .failed(let failure): "Your location could not be determined: \(failure.reason)"
        case .timedOut: "Your location could not be determined in time."
        case .invalidFix: "Your location is not known at the moment."
        case .cancelled: "The request for your location was cancelled."
        }
    }
}
