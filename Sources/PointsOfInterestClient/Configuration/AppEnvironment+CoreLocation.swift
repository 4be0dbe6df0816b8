#if canImport(CoreLocation)
    import CoreLocation

    extension AppEnvironment {
        /// Makes the parts of an app on the device's own location manager.
        ///
        /// - Parameters:
        ///   - configuration: what the app was told at its launch.
        ///   - eventQueue: where tracking events wait for the service; without one they only get to observers.
        public init(configuration: AppConfiguration, eventQueue: EventQueue? = nil) {
            self.init(
                configuration: configuration, locationFetcher: CLLocationManager(), eventQueue: eventQueue)
        }
    }
#endif
