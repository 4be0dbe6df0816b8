/// Why a request to the service failed, and which one it was.
///
/// Two errors are equal if their reasons are: no two requests have the same ids.
public struct RequestError: Error, Sendable {
    /// Why a request failed.
    public enum Reason: Hashable, Sendable {
        /// The latitude or the longitude is not finite or out of range.
        case invalidCoordinate
        /// The base URL is not an absolute `http` or `https` URL with a host.
        case invalidBaseURL
        /// The request was cancelled by its caller.
        case cancelled
        /// The request or its response was lost; `code` is the raw value of a `URLError.Code`.
        case transport(code: Int, reason: String)
        /// The response is a redirect that isn't followed: it leads to another origin (scheme, host and port), the request
        /// isn't a `GET` or `HEAD`, or there were too many redirects before it. A network that wants a sign-in sends such
        /// responses. `to` is the origin that the redirect leads to, `http://portal.example:80` for instance; the request
        /// wasn't sent on.
        case redirectRefused(to: String)
        /// The response isn't HTTP.
        case notHTTP
        /// The service sent a problem.
        case problem(Problem)
        /// Another server responded in the service's place: a network's page to sign in at, for instance. The response is
        /// neither what was asked for nor a problem, and its media type is none of the service's, which are JSON. `mediaType`
        /// is in lower case, without parameters; nil where the response names none.
        case foreignResponse(status: Int, mediaType: String?)
        /// The response has an error's status but no problem document, and nothing says that it is another server's: it is
        /// JSON, or empty.
        case unexpectedStatus(Int)
        /// The response is a success and JSON, but it isn't what was asked for; `reason` is for developers.
        case undecodableBody(reason: String)
        /// The response is a success, but its body isn't whole JSON: the transfer was cut, for instance. `reason` is for
        /// developers.
        case damagedBody(reason: String)
    }

    /// Why the request failed.
    public let reason: Reason
    /// The `X-Request-Id` that the request was sent with, in all its attempts: by this the service's log has it. Nil where
    /// nothing was sent.
    public var requestID: String?
    /// The `X-Request-Id` of the response; nil where there was none. It is the request's, unless something in between has one
    /// of its own.
    public var responseID: String?

    /// Makes an error.
    public init(_ reason: Reason, requestID: String? = nil, responseID: String? = nil) {
        self.reason = reason
        self.requestID = requestID
        self.responseID = responseID
    }

    /// The problem that the service sent; nil for every other reason.
    public var problem: Problem? {
        if case .problem(let problem) = reason { problem } else { nil }
    }

    /// Whether the service said that there is no such place: it was removed, or never was. It may come back with the same id.
    public var isGone: Bool { problem.map { [.gone, .notFound].contains($0.code) } ?? false }
}

extension RequestError: Hashable {
    /// Whether the reasons are equal.
    public static func == (one: RequestError, other: RequestError) -> Bool { one.reason == other.reason }

    /// Hashes the reason.
    public func hash(into hasher: inout Hasher) { hasher.combine(reason) }

    /// Whether an error has this one's reason, for `catch RequestError.cancelled`.
    public static func ~= (error: RequestError, other: any Error) -> Bool { other as? RequestError == error }
}

extension RequestError: CustomStringConvertible {
    /// The reason and the ids, for developers.
    public var description: String {
        let ids = [requestID.map { "request \($0)" }, responseID.map { "response \($0)" }].compactMap(\.self)
        return (["\(reason)"] + ids).joined(separator: ", ")
    }
}

extension RequestError {
    /// An error with the reason of this name.
    public static let invalidCoordinate = RequestError(.invalidCoordinate)
    /// An error with the reason of this name.
    public static let invalidBaseURL = RequestError(.invalidBaseURL)
    /// An error with the reason of this name.
    public static let cancelled = RequestError(.cancelled)
    /// An error with the reason of this name.
    public static let notHTTP = RequestError(.notHTTP)

    /// Makes an error with the reason of this name.
    public static func transport(code: Int, reason: String) -> RequestError {
        RequestError(.transport(code: code, reason: reason))
    }

    /// Makes an error with the reason of this name.
    public static func redirectRefused(to origin: String) -> RequestError {
        RequestError(.redirectRefused(to: origin))
    }

    /// Makes an error with the reason of this name.
    public static func problem(_ problem: Problem) -> RequestError { RequestError(.problem(problem)) }

    /// Makes an error with the reason of this name.
    public static func foreignResponse(status: Int, mediaType: String?) -> RequestError {
        RequestError(.foreignResponse(status: status, mediaType: mediaType))
    }

    /// Makes an error with the reason of this name.
    public static func unexpectedStatus(_ status: Int) -> RequestError {
        RequestError(.unexpectedStatus(status))
    }

    /// Makes an error with the reason of this name.
    public static func undecodableBody(reason: String) -> RequestError {
        RequestError(.undecodableBody(reason: reason))
    }

    /// Makes an error with the reason of this name.
    public static func damagedBody(reason: String) -> RequestError {
        RequestError(.damagedBody(reason: reason))
    }
}
