import Foundation

/// Why there is no current location.
public enum LocationError: Error, Hashable, Sendable {
    /// The person refused, or can't allow it.
    case notAuthorized
    /// The device failed to find out.
    case failed(LocationFailure)
    /// The device found out nothing in time.
    case timedOut
    /// What came was no position: the fix is invalid.
    case invalidFix
    /// The task that asked was cancelled.
    case cancelled
}

extension LocationError: LocalizedError {
    /// A sentence for people.
    public var errorDescription: String? {
        switch self {
        case .notAuthorized: "The app is not allowed to know your location."
        case .failed(let failure): "Your location could not be determined: \(failure.reason)"
        case .timedOut: "Your location could not be determined in time."
        case .invalidFix: "Your location is not known at the moment."
        case .cancelled: "The request for your location was cancelled."
        }
    }
}
