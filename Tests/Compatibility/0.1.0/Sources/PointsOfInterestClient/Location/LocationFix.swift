import Foundation

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
