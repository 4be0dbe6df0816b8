import Foundation

/// What the person has decided.
public enum CLAuthorizationStatus: Int32, Sendable {
    /// In Core Location's order.
    case notDetermined, restricted, denied, authorizedAlways, authorizedWhenInUse
}

/// How exactly the app may know.
public enum CLAccuracyAuthorization: Int, Sendable {
    /// In Core Location's order.
    case fullAccuracy, reducedAccuracy
}

/// A location manager that a test moves, and that traps where Apple's raises an exception.
open class CLLocationManager: NSObject {
    /// Who is told. Apple's manager tells it the authorisation on the next turn of the run loop.
    public weak var delegate: (any CLLocationManagerDelegate)? {
        didSet { findMissingMethods() }
    }
    /// How exact fixes should be, in metres.
    public var desiredAccuracy: CLLocationAccuracy = -1
    /// What the person has decided.
    public private(set) var authorizationStatus: CLAuthorizationStatus = .notDetermined
    /// How exactly the app may know.
    public private(set) var accuracyAuthorization: CLAccuracyAuthorization = .fullAccuracy

    // From here on, what a test sees and does.

    /// The names of the methods that were called, in order.
    public private(set) var calls: [String] = []
    private var missingMethods: Set<String> = []

    /// Asks the person.
    open func requestWhenInUseAuthorization() { calls.append("requestWhenInUseAuthorization") }

    /// Gives up a request.
    open func stopUpdatingLocation() { calls.append("stopUpdatingLocation") }

    /// Asks for one fix; traps where the delegate can't be told a failure.
    open func requestLocation() {
        calls.append("requestLocation")
        guard delegate != nil, missingMethods.isEmpty else {
            fatalError("Delegate must respond to \(missingMethods.sorted())")
        }
    }

    // Apple's asks `respondsToSelector`. Here the methods are called once, with a probe for manager and nothing to
    // tell: the default ones take note with the probe. A delegate for whom that is news waits for something already.
    private func findMissingMethods() {
        guard let delegate else { return }
        let probe = CLLocationManager()
        delegate.locationManager(probe, didUpdateLocations: [])
        delegate.locationManager(probe, didFailWithError: CLError(.locationUnknown))
        missingMethods = probe.missingMethods
    }

    /// Tells the delegate fixes.
    public func tell(_ locations: [CLLocation]) {
        delegate?.locationManager(self, didUpdateLocations: locations)
    }

    /// Tells the delegate a failure.
    public func tell(_ error: any Error) {
        delegate?.locationManager(self, didFailWithError: error)
    }

    /// Decides as a person.
    public func decide(_ status: CLAuthorizationStatus, _ accuracy: CLAccuracyAuthorization = .fullAccuracy) {
        authorizationStatus = status
        accuracyAuthorization = accuracy
        tellAuthorization()
    }

    /// Tells the delegate the authorisation, as the system tells a new delegate too.
    public func tellAuthorization() {
        delegate?.locationManagerDidChangeAuthorization(self)
    }

    func missing(_ method: String) {
        missingMethods.insert(method)
    }
}

// Apple's methods are optional. Here each has a default, and that of a failure takes note that it is only that.
/// Who a location manager tells what happens.
public protocol CLLocationManagerDelegate: NSObjectProtocol {
    /// Fixes have come.
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])
    /// There is no fix to be had.
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
    /// The person may have decided anew.
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
}

extension CLLocationManagerDelegate {
    /// Fixes have come.
    public func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        manager.missing("locationManager(_:didUpdateLocations:)")
    }

    /// There is no fix to be had.
    public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        manager.missing("locationManager(_:didFailWithError:)")
    }

    /// The person may have decided anew.
    public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
}

// What the client uses of Core Location, with its names, its types and its concurrency.

/// Degrees, WGS 84.
public typealias CLLocationDegrees = Double
/// Metres; negative where invalid.
public typealias CLLocationAccuracy = Double

/// A position, valid or not.
public struct CLLocationCoordinate2D: Sendable {
    /// Degrees north.
    public var latitude: CLLocationDegrees
    /// Degrees east.
    public var longitude: CLLocationDegrees

    /// Makes a position of anything.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// No position.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Not Sendable, so that nothing relies on it: Apple's is in some SDKs only.
public class CLLocation {
    /// Where.
    public let coordinate: CLLocationCoordinate2D
    /// How exactly.
    public let horizontalAccuracy: CLLocationAccuracy

    /// Makes a fix.
    public init(coordinate: CLLocationCoordinate2D, horizontalAccuracy: CLLocationAccuracy) {
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
    }
}

/// The domain of a location manager's errors.
public let kCLErrorDomain = "kCLErrorDomain"

/// An error of a location manager.
public struct CLError: Error, CustomNSError {
    /// What went wrong.
    public enum Code: Int, Sendable {
        /// There is no fix at the moment.
        case locationUnknown = 0
        /// The person refused.
        case denied = 1
        /// The network was needed and not there.
        case network = 2
    }

    /// `kCLErrorDomain`.
    public static var errorDomain: String { kCLErrorDomain }

    /// What went wrong.
    public let code: Code

    /// Makes an error.
    public init(_ code: Code) {
        self.code = code
    }

    /// The code's number.
    public var errorCode: Int { code.rawValue }
}
