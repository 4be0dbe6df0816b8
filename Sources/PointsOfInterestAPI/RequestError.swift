/// Why a request to the service failed.
public enum RequestError: Error, Hashable, Sendable {
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
    /// The response has an error's status but no problem document: a proxy sent it, for instance.
    case unexpectedStatus(Int)
    /// The response is a success, but its body can't be decoded; `reason` is for developers.
    case undecodableBody(reason: String)
}
