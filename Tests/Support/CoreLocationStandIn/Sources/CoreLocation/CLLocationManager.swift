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
