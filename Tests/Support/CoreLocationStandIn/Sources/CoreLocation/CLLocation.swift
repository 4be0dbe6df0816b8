// What the client uses of Core Location, with its names, its types and its concurrency.

public typealias CLLocationDegrees = Double
public typealias CLLocationAccuracy = Double

public struct CLLocationCoordinate2D: Sendable {
    public var latitude: CLLocationDegrees
    public var longitude: CLLocationDegrees

    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Not Sendable, so that nothing relies on it: Apple's is in some SDKs only.
public class CLLocation {
    public let coordinate: CLLocationCoordinate2D
    public let horizontalAccuracy: CLLocationAccuracy

    public init(coordinate: CLLocationCoordinate2D, horizontalAccuracy: CLLocationAccuracy) {
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
    }
}

public let kCLErrorDomain = "kCLErrorDomain"
