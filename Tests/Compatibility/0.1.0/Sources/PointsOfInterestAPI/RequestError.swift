#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Everything that can go wrong between a coordinate and its points of interest.
public enum RequestError: Error, Hashable, Sendable {
    /// The latitude or the longitude is not finite or out of range.
    case invalidCoordinate
    /// The base URL is not an absolute `http` or `https` URL with a host.
    case invalidBaseURL
    /// The request was cancelled by its caller.
    case cancelled
    /// The request or its answer was lost on the way; `code` is a `URLError.Code`'s raw value.
    case transport(code: Int, reason: String)
    /// Something answered, but not in HTTP.
    case notHTTP
    /// The service refused and said why.
    case problem(Problem)
    /// The answer has an error's status, but no problem document: a proxy's, for instance.
    case unexpectedStatus(Int)
    /// The answer is a success whose body is not what the contract says; `reason` is for developers.
    case undecodableBody(reason: String)
}

extension RequestError: LocalizedError {
    /// One sentence in English for a person.
    public var errorDescription: String? {
        switch self {
        case .invalidCoordinate: "This is not a place on Earth."
        case .invalidBaseURL: "The address of the service is not valid."
        case .cancelled: "The request was cancelled."
        case .transport(_, let reason): "The service could not be reached: \(reason)"
        case .notHTTP: "The service gave an answer that is not HTTP."
        case .problem(let problem): problem.detail.map { "\(problem.title): \($0)" } ?? problem.title
        case .unexpectedStatus(let status): "The service answered with status \(status)."
        case .undecodableBody: "The service gave an answer that this app does not understand."
        }
    }
}
