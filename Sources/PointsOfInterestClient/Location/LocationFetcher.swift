import Foundation
import PointsOfInterestHTTP

/// Determines the device's location. It has what this module uses of Core Location's `CLLocationManager`, which
/// conforms.
///
/// It belongs to the main actor, because a location manager calls back on the run loop of the thread that made it.
@MainActor
public protocol LocationFetcher: AnyObject {
    /// Gets the fixes and failures; held weakly.
    ///
    /// The delegate of a `CLLocationManager` must also be a `CLLocationManagerDelegate`, as `CurrentLocationProvider`
    /// is.
    var locationFetcherDelegate: (any LocationFetcherDelegate)? { get set }
    /// How accurate a fix should be, in metres.
    var desiredAccuracy: Double { get set }
    /// Whether the app may use the location.
    var locationAuthorization: LocationAuthorization { get }

    /// Asks the person for permission to use the location while the app is in use, unless they have decided.
    func requestWhenInUseAuthorization()
    /// Requests one fix. The delegate gets it, or a failure, at once or later. Another call before that starts over.
    func requestLocation()
    /// Cancels `requestLocation()`.
    func stopUpdatingLocation()
}

/// Gets the fixes and failures of a location fetcher.
@MainActor
public protocol LocationFetcherDelegate: AnyObject {
    /// There are fixes, the newest last.
    func locationFetcher(_ fetcher: any LocationFetcher, didUpdateLocations locations: [LocationFix])
    /// No fix could be determined.
    func locationFetcher(_ fetcher: any LocationFetcher, didFailWithError error: LocationFailure)
    /// The permission may have changed; also called where it hasn't.
    func locationFetcherDidChangeAuthorization(_ fetcher: any LocationFetcher)
}

/// Whether an app may use the device's location.
public enum LocationAuthorization: Hashable, Sendable {
    /// The person has not been asked yet.
    case notDetermined
    /// The person can't allow it, because of parental controls or a managed device.
    case restricted
    /// The person refused, or switched location services off.
    case denied
    /// The person allowed an approximate location only, within a few kilometres.
    case reducedAccuracy
    /// The person allowed it.
    case fullAccuracy
}

/// A measured location of the device. It has what this module uses of Core Location's `CLLocation`.
public struct LocationFix: Hashable, Sendable {
    /// Degrees north, WGS 84; may be out of range where the fix is invalid.
    public var latitude: Double
    /// Degrees east, WGS 84; may be out of range where the fix is invalid.
    public var longitude: Double
    /// The radius in metres in which the true location probably is; negative where the fix is invalid.
    public var horizontalAccuracy: Double

    /// Makes a fix, valid or not.
    public init(latitude: Double, longitude: Double, horizontalAccuracy: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.horizontalAccuracy = horizontalAccuracy
    }

    /// The coordinate; nil where the fix is invalid: where its accuracy is negative or not finite, or its degrees are
    /// out of range.
    public var coordinate: Coordinate? {
        guard horizontalAccuracy >= 0, horizontalAccuracy.isFinite else { return nil }
        return try? Coordinate(latitude: latitude, longitude: longitude)
    }
}

/// The system's error where the device fails to determine its location.
public struct LocationFailure: Error, Hashable, Sendable {
    /// The error's domain, `kCLErrorDomain` where it is Core Location's.
    public var domain: String
    /// The error's code in its domain.
    public var code: Int
    /// The system's description, for developers.
    public var reason: String
    /// Whether the reason is that the person refused.
    public var isDenied: Bool

    /// Makes a failure.
    public init(domain: String, code: Int, reason: String, isDenied: Bool = false) {
        self.domain = domain
        self.code = code
        self.reason = reason
        self.isDenied = isDenied
    }

    /// Makes a failure of any error.
    init(_ error: any Error, isDenied: Bool) {
        let system = error as NSError
        self.init(
            domain: system.domain, code: system.code, reason: system.localizedDescription, isDenied: isDenied)
    }
}

/// Why there is no current location.
public enum LocationError: Error, Hashable, Sendable {
    /// The person refused, or can't allow it.
    case notAuthorized
    /// The device failed to determine it.
    case failed(LocationFailure)
    /// The device didn't determine it in time.
    case timedOut
    /// The fix is invalid.
    case invalidFix
    /// The task was cancelled.
    case cancelled
}

extension LocationError: LocalizedError {
    /// A sentence for people, in their language where the app translates `ErrorText`.
    public var errorDescription: String? {
        switch self {
        case .notAuthorized: ErrorText.locationNotAuthorized.localized()
        case .failed, .invalidFix: ErrorText.locationFailed.localized()
        case .timedOut: ErrorText.locationTimedOut.localized()
        case .cancelled: ErrorText.cancelled.localized()
        }
    }
}
