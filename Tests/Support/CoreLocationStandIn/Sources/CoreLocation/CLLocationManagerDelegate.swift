import Foundation

// Apple's methods are optional. Here each has a default, and that of a failure takes note that it is only that.
public protocol CLLocationManagerDelegate: NSObjectProtocol {
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
}

extension CLLocationManagerDelegate {
    public func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        manager.missing("locationManager(_:didUpdateLocations:)")
    }

    public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        manager.missing("locationManager(_:didFailWithError:)")
    }

    public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
}
