// What the client uses of MapKit, with its names, its types and its concurrency. MapKit brings Core Location along.
@_exported import CoreLocation

/// The width and the height of a region, in degrees.
public struct MKCoordinateSpan: Sendable {
    /// From the southern to the northern edge.
    public var latitudeDelta: CLLocationDegrees
    /// From the western to the eastern edge.
    public var longitudeDelta: CLLocationDegrees

    /// Makes a span of anything.
    public init(latitudeDelta: CLLocationDegrees, longitudeDelta: CLLocationDegrees) {
        self.latitudeDelta = latitudeDelta
        self.longitudeDelta = longitudeDelta
    }
}

/// A rectangle of latitudes and longitudes around a centre.
public struct MKCoordinateRegion: Sendable {
    /// The middle.
    public var center: CLLocationCoordinate2D
    /// The width and the height.
    public var span: MKCoordinateSpan

    /// Makes a region of anything.
    public init(center: CLLocationCoordinate2D, span: MKCoordinateSpan) {
        self.center = center
        self.span = span
    }
}
