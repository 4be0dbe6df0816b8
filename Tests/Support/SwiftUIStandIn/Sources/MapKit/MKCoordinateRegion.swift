// Apple's pages say what each declaration is for.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported import CoreLocation

// Each declaration names its page below https://developer.apple.com/documentation/.

/// mapkit/mkcoordinatespan
public struct MKCoordinateSpan: Sendable {
    public var latitudeDelta: CLLocationDegrees
    public var longitudeDelta: CLLocationDegrees

    public init(latitudeDelta: CLLocationDegrees, longitudeDelta: CLLocationDegrees) {
        self.latitudeDelta = latitudeDelta
        self.longitudeDelta = longitudeDelta
    }
}

/// mapkit/mkcoordinateregion
public struct MKCoordinateRegion: Sendable {
    public var center: CLLocationCoordinate2D
    public var span: MKCoordinateSpan

    public init(center: CLLocationCoordinate2D, span: MKCoordinateSpan) {
        self.center = center
        self.span = span
    }
}
