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
