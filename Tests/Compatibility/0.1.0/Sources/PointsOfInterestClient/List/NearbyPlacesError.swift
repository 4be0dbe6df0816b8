import Foundation

/// Why there is no list of the places nearby.
public enum NearbyPlacesError: Error, Hashable, Sendable {
    /// There is no location to list them around.
    case location(LocationError)
    /// The service did not answer them.
    case request(RequestError)
}

extension NearbyPlacesError: LocalizedError {
    /// A sentence for people.
    public var errorDescription: String? {
        switch self {
        case .location(let error): error.errorDescription
        case .request(let error): error.errorDescription
        }
    }
}
