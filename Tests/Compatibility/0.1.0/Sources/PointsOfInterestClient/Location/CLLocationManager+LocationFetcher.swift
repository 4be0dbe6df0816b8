#if canImport(CoreLocation)
    import CoreLocation

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
#endif
