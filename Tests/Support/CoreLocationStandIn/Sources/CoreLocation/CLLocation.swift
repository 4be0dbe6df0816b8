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
