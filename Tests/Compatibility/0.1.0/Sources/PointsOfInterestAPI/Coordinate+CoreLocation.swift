#if canImport(CoreLocation)
    import CoreLocation

    extension Coordinate {
        /// Makes a coordinate of one of Core Location's, which may be invalid.
        ///
        /// - Throws: `RequestError.invalidCoordinate`, for `kCLLocationCoordinate2DInvalid` for instance.
        public init(_ coordinate: CLLocationCoordinate2D) throws(RequestError) {
            try self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
        }
    }

    extension CLLocationCoordinate2D {
        /// Makes Core Location's form of a coordinate.
        public init(_ coordinate: Coordinate) {
            self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
        }
    }
#endif
