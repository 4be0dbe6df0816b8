#if canImport(MapKit)
    import MapKit
#endif

extension BoundingBox {
    /// Makes the box of a map's region; nil where a span is negative or not a number.
    ///
    /// It ends at the poles. A region across the antimeridian gives a box across it, and a longitude span of 360
    /// degrees or more gives all longitudes.
    ///
    /// - Parameters:
    ///   - center: the middle of the region.
    ///   - latitudeDelta: the distance from the southern to the northern edge, in degrees.
    ///   - longitudeDelta: the distance from the western to the eastern edge, in degrees.
    public init?(center: Coordinate, latitudeDelta: Double, longitudeDelta: Double) {
        guard latitudeDelta.isFinite, longitudeDelta.isFinite, latitudeDelta >= 0, longitudeDelta >= 0 else {
            return nil
        }
        // A span that is this close to 360 degrees can be rounded to none: both edges are the same meridian then.
        let isWholeCircle = longitudeDelta > 360 - 1e-9
        self.init(
            west: isWholeCircle ? -180 : Self.wrapped(center.longitude - longitudeDelta / 2),
            south: max(center.latitude - latitudeDelta / 2, -90),
            east: isWholeCircle ? 180 : Self.wrapped(center.longitude + longitudeDelta / 2),
            north: min(center.latitude + latitudeDelta / 2, 90))
    }

    /// The meridian's number in −180…180, for one in −360…360.
    private static func wrapped(_ longitude: Double) -> Double {
        if longitude < -180 { return longitude + 360 }
        if longitude > 180 { return longitude - 360 }
        return longitude
    }
}

#if canImport(MapKit)
    extension BoundingBox {
        /// Makes the box of MapKit's region; nil where its centre isn't a position or a span isn't a number.
        public init?(_ region: MKCoordinateRegion) {
            // The centre of a region that a rectangle of map points was converted to can be beyond the antimeridian.
            let longitude = region.center.longitude.remainder(dividingBy: 360)
            guard let center = try? Coordinate(latitude: region.center.latitude, longitude: longitude) else {
                return nil
            }
            self.init(
                center: center, latitudeDelta: region.span.latitudeDelta,
                longitudeDelta: region.span.longitudeDelta)
        }
    }

    extension PlacesMap {
        /// Loads the places in a region, as `show(_:)` does for its box. A region that isn't on Earth sets `lastError`.
        public func show(_ region: MKCoordinateRegion) async {
            guard let box = BoundingBox(region) else {
                state.lastError = .invalidCoordinate
                return
            }
            await show(box)
        }
    }
#endif
