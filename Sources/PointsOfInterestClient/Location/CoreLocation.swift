#if canImport(CoreLocation)
    import CoreLocation
    import Foundation

    extension CLLocationManager: LocationFetcher {
        /// Who is told what happens; held weakly. Only a `CLLocationManagerDelegate` can be told.
        public var locationFetcherDelegate: (any LocationFetcherDelegate)? {
            get { delegate as? any LocationFetcherDelegate }
            set {
                let delegate = newValue as? any CLLocationManagerDelegate
                assert(
                    newValue == nil || delegate != nil,
                    "a location manager tells only delegates of its own kind")
                self.delegate = delegate
            }
        }

        /// What the person has decided, now.
        public var locationAuthorization: LocationAuthorization {
            switch authorizationStatus {
            case .notDetermined: .notDetermined
            case .restricted: .restricted
            case .denied: .denied
            // Allowed, in one of several ways, some of them newer than this code.
            default: accuracyAuthorization == .reducedAccuracy ? .reducedAccuracy : .fullAccuracy
            }
        }
    }

    extension CurrentLocationProvider {
        /// Makes a provider on the device's own location manager.
        public convenience init(
            notificationCenter: NotificationCenter = .default, placeFinder: any PlaceFinder
        ) {
            self.init(
                locationFetcher: CLLocationManager(), notificationCenter: notificationCenter,
                placeFinder: placeFinder)
        }
    }

    // A manager calls on the thread that made it, which is the main one, since its fetcher side is the main
    // actor's. It is not passed on: only values cross.
    extension CurrentLocationProvider: CLLocationManagerDelegate {
        /// Hands the manager's fixes on.
        public nonisolated func locationManager(
            _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
        ) {
            let fixes = locations.map { LocationFix($0) }
            MainActor.assumeIsolated { locationFetcher(locationFetcher, didUpdateLocations: fixes) }
        }

        /// Hands the manager's failure on. A manager raises an exception where this is missing.
        public nonisolated func locationManager(
            _ manager: CLLocationManager, didFailWithError error: any Error
        ) {
            let failure = LocationFailure(error)
            MainActor.assumeIsolated { locationFetcher(locationFetcher, didFailWithError: failure) }
        }

        /// Hands on that the person may have decided anew.
        public nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
            MainActor.assumeIsolated { locationFetcherDidChangeAuthorization(locationFetcher) }
        }
    }

    extension LocationFix {
        /// Makes a fix of one of Core Location's.
        public init(_ location: CLLocation) {
            self.init(
                latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
                horizontalAccuracy: location.horizontalAccuracy)
        }
    }

    extension LocationFailure {
        /// Makes a failure of an error that a location manager told.
        public init(_ error: any Error) {
            let system = error as NSError
            self.init(
                domain: system.domain, code: system.code, reason: system.localizedDescription,
                isDenied: (error as? CLError)?.code == .denied)
        }
    }

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
