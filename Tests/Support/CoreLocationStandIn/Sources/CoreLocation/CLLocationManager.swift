import Foundation

public enum CLAuthorizationStatus: Int32, Sendable {
    case notDetermined, restricted, denied, authorizedAlways, authorizedWhenInUse
}

public enum CLAccuracyAuthorization: Int, Sendable {
    case fullAccuracy, reducedAccuracy
}

/// A location manager that a test moves, and that traps where Apple's raises an exception.
open class CLLocationManager: NSObject {
    // Apple's tells a new delegate the authorisation, on the next turn of the run loop: see `tellAuthorization`.
    public weak var delegate: (any CLLocationManagerDelegate)? {
        didSet { findMissingMethods() }
    }
    public var desiredAccuracy: CLLocationAccuracy = -1
    public private(set) var authorizationStatus: CLAuthorizationStatus = .notDetermined
    public private(set) var accuracyAuthorization: CLAccuracyAuthorization = .fullAccuracy

    // From here on, what a test sees and does.

    /// The names of the methods that were called, in order.
    public private(set) var calls: [String] = []
    private var missingMethods: Set<String> = []

    open func requestWhenInUseAuthorization() { calls.append("requestWhenInUseAuthorization") }

    open func stopUpdatingLocation() { calls.append("stopUpdatingLocation") }

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

    public func tell(_ locations: [CLLocation]) {
        delegate?.locationManager(self, didUpdateLocations: locations)
    }

    public func tell(_ error: any Error) {
        delegate?.locationManager(self, didFailWithError: error)
    }

    public func decide(_ status: CLAuthorizationStatus, _ accuracy: CLAccuracyAuthorization = .fullAccuracy) {
        authorizationStatus = status
        accuracyAuthorization = accuracy
        tellAuthorization()
    }

    public func tellAuthorization() {
        delegate?.locationManagerDidChangeAuthorization(self)
    }

    func missing(_ method: String) {
        missingMethods.insert(method)
    }
}
