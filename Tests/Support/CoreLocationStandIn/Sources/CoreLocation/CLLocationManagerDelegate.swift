import Foundation

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
