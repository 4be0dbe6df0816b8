/// Who knows where the device is.
@MainActor
public protocol CurrentLocationSource: AnyObject {
    /// The position of the last valid fix; nil before the first.
    var lastLocation: Coordinate? { get }

    /// Finds out where the device is now.
    ///
    /// - Throws: `LocationError`.
    func currentLocation() async throws(LocationError) -> LocationFix
}
