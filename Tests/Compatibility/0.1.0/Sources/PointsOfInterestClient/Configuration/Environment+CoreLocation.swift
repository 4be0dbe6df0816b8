#if canImport(CoreLocation)
    import CoreLocation

    extension Environment {
        /// Makes the parts of an app on the device's own location manager.
        public init(configuration: AppConfiguration) {
            self.init(configuration: configuration, locationFetcher: CLLocationManager())
        }
    }
#endif
