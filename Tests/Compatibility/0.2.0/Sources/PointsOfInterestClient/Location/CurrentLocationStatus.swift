/// Whether the device is at a point of interest.
public enum CurrentLocationStatus: Hashable, Sendable {
    /// It is at this one, the nearest.
    case atPointOfInterest(PointOfInterest)
    /// It is at none.
    case elsewhere
    /// The fix is invalid, or not accurate enough to tell.
    case unknown
    /// The person doesn't allow the app to use the location, or can't allow it.
    case notAuthorized
    /// The device failed to find out where it is.
    case locationFailed(LocationFailure)
    /// The device didn't find out where it is in time.
    case locationTimedOut
    /// The request to the service failed.
    case requestFailed(RequestError)
    /// The task was cancelled.
    case cancelled

    /// Whether the device is at a point of interest; nil where that isn't known.
    public var isPointOfInterest: Bool? {
        switch self {
        case .atPointOfInterest: true
        case .elsewhere: false
        default: nil
        }
    }
}

extension CurrentLocationStatus {
    init(_ error: LocationError) {
        switch error {
        case .notAuthorized: self = .notAuthorized
        case .failed(let failure): self = .locationFailed(failure)
        case .timedOut: self = .locationTimedOut
        case .invalidFix: self = .unknown
        case .cancelled: self = .cancelled
        }
    }

    init(_ error: RequestError) {
        self = error == .cancelled ? .cancelled : .requestFailed(error)
    }
}

extension CurrentLocationProvider {
    /// Finds out whether the device is at a point of interest: whether the service finds one within the fix's
    /// accuracy, or within 100 m where that is less.
    ///
    /// It doesn't throw: failures are cases of the status. When the task is cancelled, it returns `.cancelled` at
    /// once.
    public func checkCurrentLocation() async -> CurrentLocationStatus {
        do {
            let fix = try await currentLocation()
            guard let center = fix.coordinate, fix.horizontalAccuracy <= Self.maximumAccuracyMeters else {
                return .unknown
            }
            let radius = max(fix.horizontalAccuracy, Self.minimumRadiusMeters)
            let request = NearbyPlacesRequest(center: center, radiusMeters: radius, limit: 1)
            guard let nearest = try await placeFinder.places(request).first else { return .elsewhere }
            return .atPointOfInterest(nearest)
        } catch let error as LocationError {
            return CurrentLocationStatus(error)
        } catch {
            return CurrentLocationStatus(RequestError(error))
        }
    }

    /// Passes the same status to a handler. The handler is called once, on the main actor, after this function has
    /// returned.
    ///
    /// - Returns: the task; when it is cancelled, the handler gets `.cancelled`.
    @discardableResult
    public func checkCurrentLocation(
        completionHandler: @escaping @MainActor @Sendable (CurrentLocationStatus) -> Void
    ) -> Task<Void, Never> {
        Task { completionHandler(await checkCurrentLocation()) }
    }
}
