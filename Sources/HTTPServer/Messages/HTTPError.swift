/// A request that the HTTP layer refuses, or one that a handler refuses in its name.
///
/// Prose and code are apart: clients and metrics match on `code`, people read `detail`. The detail never
/// repeats what the client sent.
public struct HTTPError: Error, Sendable {
    /// What went wrong, in a form that stays.
    public enum Code: String, Sendable, CaseIterable {
        /// The bytes are not an HTTP request, or an ambiguous one.
        case malformedRequest = "malformed-request"
        /// The request line is longer than the limit.
        case uriTooLong = "uri-too-long"
        /// The header block or the trailers are larger than the limit.
        case headersTooLarge = "headers-too-large"
        /// The body is larger than the limit.
        case bodyTooLarge = "body-too-large"
        /// The request did not arrive in time.
        case requestTimeout = "request-timeout"
        /// An `Expect` other than `100-continue`.
        case expectationFailed = "expectation-failed"
        /// A version other than HTTP/1.0 and HTTP/1.1.
        case versionNotSupported = "version-not-supported"
        /// A method that the server does not know.
        case methodNotImplemented = "method-not-implemented"
        /// A transfer coding other than `chunked`.
        case transferCodingNotImplemented = "transfer-coding-not-implemented"
        /// No route has this path.
        case notFound = "not-found"
        /// The path's routes have other methods.
        case methodNotAllowed = "method-not-allowed"
        /// None of the resource's media types or codings is acceptable.
        case notAcceptable = "not-acceptable"
        /// The body's media type is not one that the resource takes.
        case unsupportedMediaType = "unsupported-media-type"
        /// The body's coding is not one that the resource takes.
        case unsupportedContentCoding = "unsupported-content-coding"
        /// The resource isn't as the request's `If-Match` demands.
        case preconditionFailed = "precondition-failed"
        /// The request needs credentials.
        case unauthorized = "unauthorized"
        /// The client asks more often than it may.
        case tooManyRequests = "too-many-requests"
        /// A path parameter whose percent-encoding is broken.
        case invalidPathEncoding = "invalid-path-encoding"
        /// More requests or connections than the server is set to serve.
        case overloaded = "overloaded"
        /// A handler failed with an error that is nobody's business.
        case internalError = "internal-error"
    }

    /// The status of the answer.
    public let status: HTTPStatus
    /// What went wrong.
    public let code: Code
    /// One sentence for people.
    public let detail: String
    /// Fields that belong to the answer: `Allow`, `Retry-After`.
    public let headers: HTTPHeaders

    /// An error with all its parts.
    public init(_ status: HTTPStatus, _ code: Code, _ detail: String, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers
    }
}

extension HTTPError: Equatable {
    /// Whether two errors say the same; the fields that go with them follow from that.
    public static func == (left: HTTPError, right: HTTPError) -> Bool {
        left.status == right.status && left.code == right.code && left.detail == right.detail
    }
}

extension HTTPError {
    static func malformed(_ detail: String) -> HTTPError {
        HTTPError(.badRequest, .malformedRequest, detail)
    }

    static let requestLineTooLong = HTTPError(
        .uriTooLong, .uriTooLong, "The request line is longer than this server takes.")
    static let headersTooLarge = HTTPError(
        .requestHeaderFieldsTooLarge, .headersTooLarge, "The header block is larger than this server takes.")
    static let bodyTooLarge = HTTPError(
        .contentTooLarge, .bodyTooLarge, "The body is larger than this server takes.")
    static let bodyNotTaken = HTTPError(
        .contentTooLarge, .bodyTooLarge, "This path takes no body with this method.")
    static let headTimedOut = HTTPError(
        .requestTimeout, .requestTimeout, "The header block did not arrive in time.")
    static let bodyTimedOut = HTTPError(.requestTimeout, .requestTimeout, "The body did not arrive in time.")
    static let truncated = malformed("The connection ended inside the request.")
    static let internalError = HTTPError(
        .internalServerError, .internalError, "The server could not answer this request.")

    /// The resource isn't as the request's `If-Match` demands (RFC 9110 section 13.1.1).
    public static let preconditionFailed = HTTPError(
        .preconditionFailed, .preconditionFailed, "The resource isn't as the request's If-Match demands.")

    /// The client accepts none of a resource's representations, of which the detail names some.
    public static func notAcceptable(_ detail: String) -> HTTPError {
        HTTPError(.notAcceptable, .notAcceptable, detail)
    }

    static func tooManyConnections(retryAfterSeconds: Int) -> HTTPError {
        HTTPError(
            .tooManyRequests, .tooManyRequests, "This client has as many connections as it may.",
            headers: [.retryAfter: String(retryAfterSeconds)])
    }

    /// The server has more to do than it is set to; the client may ask again after some seconds.
    public static func overloaded(retryAfterSeconds: Int) -> HTTPError {
        HTTPError(
            .serviceUnavailable, .overloaded, "The server is at its limit.",
            headers: [.retryAfter: String(retryAfterSeconds)])
    }
}

/// Turns errors into answers: what a handler throws, 404 and 405 of the router, and requests that can't be
/// read. The format of error answers belongs to the layer above, so it is given to the server from outside.
public protocol HTTPErrorResponder {
    /// The answer for an error: an `HTTPError`, whose `headers` belong to the answer, or whatever a handler
    /// threw, of which nothing should be shown. Called on the loop; it must not block.
    func response(to error: any Error, context: RequestContext) -> HTTPResponse
}

/// Answers errors with a sentence of plain text, and those that are nobody's business with a bland one.
public struct PlainTextErrorResponder: HTTPErrorResponder {
    /// A responder.
    public init() {}

    /// The status and detail of an `HTTPError`; for all else 500.
    public func response(to error: any Error, context: RequestContext) -> HTTPResponse {
        let error = error as? HTTPError ?? .internalError
        var response = HTTPResponse.text(error.status, error.detail + "\n")
        for (name, value) in error.headers {
            if let name = HTTPHeaderName(name) { response.headers.add(name, value) }
        }
        return response
    }
}
