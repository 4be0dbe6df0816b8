#if canImport(CoreLocation)
    import CoreLocation
    import Foundation
    import PointsOfInterestHTTP

    extension CLLocationManager: LocationFetcher {
        /// Gets the fixes and failures; held weakly. It must also be a `CLLocationManagerDelegate`.
        public var locationFetcherDelegate: (any LocationFetcherDelegate)? {
            get { delegate as? any LocationFetcherDelegate }
            set {
                let delegate = newValue as? any CLLocationManagerDelegate
                assert(
                    newValue == nil || delegate != nil,
                    "the delegate of a location manager must be a CLLocationManagerDelegate")
                self.delegate = delegate
            }
        }

        /// Whether the app may use the location now.
        public var locationAuthorization: LocationAuthorization {
            switch authorizationStatus {
            case .notDetermined: .notDetermined
            case .restricted: .restricted
            case .denied: .denied
            // Allowed, in one of several ways, some of which may be newer than this code.
            default: accuracyAuthorization == .reducedAccuracy ? .reducedAccuracy : .fullAccuracy
            }
        }
    }

    extension CurrentLocationProvider {
        /// Makes a provider with the device's own location manager.
        public convenience init(
            notificationCenter: NotificationCenter = .default, placeFinder: any PlaceFinder
        ) {
            self.init(
                locationFetcher: CLLocationManager(), notificationCenter: notificationCenter,
                placeFinder: placeFinder)
        }
    }

    // A manager calls its delegate on the thread that made it. That is the main one, since a `LocationFetcher`
    // belongs to the main actor. The manager isn't `Sendable`, so only values are passed on.
    extension CurrentLocationProvider: CLLocationManagerDelegate {
        /// Passes the manager's fixes on.
        public nonisolated func locationManager(
            _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
        ) {
            let fixes = locations.map { LocationFix($0) }
            MainActor.assumeIsolated { locationFetcher(locationFetcher, didUpdateLocations: fixes) }
        }

        /// Passes the manager's failure on. A manager raises an exception where its delegate doesn't have this.
        public nonisolated func locationManager(
            _ manager: CLLocationManager, didFailWithError error: any Error
        ) {
            let failure = LocationFailure(error)
            MainActor.assumeIsolated { locationFetcher(locationFetcher, didFailWithError: failure) }
        }

        /// Passes on that the permission may have changed.
        public nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
            MainActor.assumeIsolated { locationFetcherDidChangeAuthorization(locationFetcher) }
        }
    }

    extension LocationFix {
        /// Converts a location of Core Location's.
        public init(_ location: CLLocation) {
            self.init(
                latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
                horizontalAccuracy: location.horizontalAccuracy)
        }
    }

    extension LocationFailure {
        /// Converts an error of a location manager.
        public init(_ error: any Error) {
            self.init(error, isDenied: (error as? CLError)?.code == .denied)
        }
    }

    extension AppEnvironment {
        /// Makes the parts of an app with the device's own location manager.
        ///
        /// - Parameters:
        ///   - configuration: the configuration of this launch.
        ///   - responseStore: where responses are kept; nil keeps none.
        ///   - timeLimits: how long a request may take.
        ///   - requestObserver: called after each attempt of a request, on any thread, for the app's log for instance.
        ///   - eventQueue: where tracking events wait for the service; without one only observers see them.
        ///   - eventUploadPolicy: how many events are sent at once, and when they are sent again.
        ///   - eventUploadReport: called with the outcome of each request with events, on any thread.
        public init(
            configuration: AppConfiguration, responseStore: ResponseStore? = ResponseStore(),
            timeLimits: TimeLimits = TimeLimits(),
            requestObserver: (@Sendable (RequestAttempt) -> Void)? = nil, eventQueue: EventQueue? = nil,
            eventUploadPolicy: EventUploader.Policy = EventUploader.Policy(),
            eventUploadReport: @escaping @Sendable (EventUploader.Report) -> Void = { _ in }
        ) {
            self.init(
                configuration: configuration, responseStore: responseStore, timeLimits: timeLimits,
                requestObserver: requestObserver, locationFetcher: CLLocationManager(),
                eventQueue: eventQueue,
                eventUploadPolicy: eventUploadPolicy, eventUploadReport: eventUploadReport)
        }
    }
#endif
