/// Whether the device is at a point of interest.
public enum CurrentLocationAnswer: Hashable, Sendable {
    /// It is at this one, the nearest.
    case atPointOfInterest(PointOfInterest)
    /// It is at none.
    case elsewhere
    /// The fix was invalid, or too rough to tell.
    case unknown
    /// The person refused to tell the location, or can't allow it.
    case notAuthorized
    /// The device could not find out where it is.
    case locationFailed(LocationFailure)
    /// The device did not find out in time.
    case locationTimedOut
    /// The service could not be asked.
    case requestFailed(RequestError)
    /// The task that asked was cancelled.
    case cancelled

    /// Yes or no; nil for every answer that is neither.
    public var isPointOfInterest: Bool? {
        switch self {
        case .atPointOfInterest: true
        case .elsewhere: false
        default: nil
        }
    }
}

extension CurrentLocationAnswer {
    /// The answer where there is no location.
    init(_ error: LocationError) {
        switch error {
        case .notAuthorized: self = .notAuthorized
        case .failed(let failure): self = .locationFailed(failure)
        case .timedOut: self = .locationTimedOut
        case .invalidFix: self = .unknown
        case .cancelled: self = .cancelled
        }
    }

    /// The answer where the service gave none.
    init(_ error: RequestError) {
        self = error == .cancelled ? .cancelled : .requestFailed(error)
    }
}

extension CurrentLocationProvider {
    /// Answers whether the device is at a point of interest: whether the service knows one within the fix's
    /// accuracy, or within 100 m where the fix is better than that.
    ///
    /// Callable from any actor. What goes wrong is an answer too; a cancelled task's is `.cancelled`, at once.
    public func checkCurrentLocation() async -> CurrentLocationAnswer {
        do {
            let fix = try await currentLocation()
            guard let center = fix.coordinate, fix.horizontalAccuracy <= Self.roughestAccuracyMeters else {
                return .unknown
            }
            let radius = max(fix.horizontalAccuracy, Self.leastRadiusMeters)
            let request = NearbyPlacesRequest(center: center, radiusMeters: radius, limit: 1)
            guard let nearest = try await placeFinder.places(request).first else { return .elsewhere }
            return .atPointOfInterest(nearest)
        } catch let error as LocationError {
            return CurrentLocationAnswer(error)
        } catch {
            return CurrentLocationAnswer(RequestError(error))
        }
    }

    /// Answers the same to a handler, which is called once, on the main actor, and never before this function
    /// has returned.
    ///
    /// - Returns: the task that asks; cancelling it answers `.cancelled`.
    @discardableResult
    public func checkCurrentLocation(
        completionHandler: @escaping @MainActor @Sendable (CurrentLocationAnswer) -> Void
    ) -> Task<Void, Never> {
        Task { completionHandler(await checkCurrentLocation()) }
    }
}
