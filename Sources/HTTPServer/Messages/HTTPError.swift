/// An error response, of the HTTP layer or of a handler.
///
/// The responder makes the error that a client sees from `status` and `code`; `detail` is for people, and never repeats
/// what the client sent.
public struct HTTPError: Error, Sendable {
    /// What went wrong.
    public enum Code: Sendable {
        /// The bytes are no HTTP request, or an ambiguous one.
        case malformedRequest
        /// The request line is longer than the limit.
        case uriTooLong
        /// The header block or the trailers are larger than the limit.
        case headersTooLarge
        /// The body is larger than the limit.
        case bodyTooLarge
        /// The request did not arrive in time.
        case requestTimeout
        /// An `Expect` other than `100-continue`.
        case expectationFailed
        /// A version other than HTTP/1.0 and HTTP/1.1.
        case versionNotSupported
        /// A method that the server doesn't know.
        case methodNotImplemented
        /// A transfer coding other than `chunked`.
        case transferCodingNotImplemented
        /// No route has this path.
        case unknownPath
        /// The resource of this path doesn't exist.
        case notFound
        /// There are routes with this path, but not with this method.
        case methodNotAllowed
        /// The client accepts none of the resource's media types or codings.
        case notAcceptable
        /// The resource doesn't accept the body's media type.
        case unsupportedMediaType
        /// The resource doesn't accept the body's coding.
        case unsupportedContentCoding
        /// The resource isn't in the state that the request's `If-Match` demands.
        case preconditionFailed
        /// The request needs credentials.
        case unauthorized
        /// The client sends more requests than it may.
        case tooManyRequests
        /// A path parameter is not validly percent-encoded.
        case invalidPathEncoding
        /// The server has as many requests or connections as it may have.
        case overloaded
        /// The server failed; the cause isn't shown.
        case internalError
    }

    /// The status of the response.
    public let status: HTTPStatus
    /// What went wrong.
    public let code: Code
    /// One sentence for people.
    public let detail: String
    /// Fields of the response, for example `Allow` and `Retry-After`.
    public let headers: HTTPHeaders

    /// Makes an error from its parts.
    public init(_ status: HTTPStatus, _ code: Code, _ detail: String, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers
    }
}

extension HTTPError: Equatable {
    /// Whether two errors have the same status, code and detail; their fields are not compared.
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
        .internalServerError, .internalError, "The server could not respond to this request.")

    /// The resource isn't in the state that the request's `If-Match` demands (RFC 9110 section 13.1.1).
    public static let preconditionFailed = HTTPError(
        .preconditionFailed, .preconditionFailed, "The resource isn't as the request's If-Match demands.")

    /// The client accepts none of a resource's representations. The detail should name them.
    public static func notAcceptable(_ detail: String) -> HTTPError {
        HTTPError(.notAcceptable, .notAcceptable, detail)
    }

    static func tooManyConnections(retryAfterSeconds: Int) -> HTTPError {
        HTTPError(
            .tooManyRequests, .tooManyRequests, "This client has as many connections as it may.",
            headers: [.retryAfter: String(retryAfterSeconds)])
    }

    /// The server is at one of its limits. The client may try again after some seconds.
    public static func overloaded(retryAfterSeconds: Int) -> HTTPError {
        HTTPError(
            .serviceUnavailable, .overloaded, "The server is at its limit.",
            headers: [.retryAfter: String(retryAfterSeconds)])
    }
}

/// Turns errors into responses: errors that handlers throw, the router's 404 and 405, and the errors of requests that
/// can't be read. The layer above decides the format of error responses, so it provides this.
public protocol HTTPErrorResponder {
    /// Makes the response for an error. Called on the loop's thread; must not block.
    ///
    /// - Parameter error: an `HTTPError`, whose `headers` belong to the response; or any other error that a handler
    ///   threw, of which nothing should be shown.
    func response(to error: any Error, context: RequestContext) -> HTTPResponse
}

/// Responds to an error with its detail as plain text.
public struct PlainTextErrorResponder: HTTPErrorResponder {
    /// Makes a responder.
    public init() {}

    /// Responds with the status and detail of an `HTTPError`; to any other error with 500.
    public func response(to error: any Error, context: RequestContext) -> HTTPResponse {
        let error = error as? HTTPError ?? .internalError
        var response = HTTPResponse.text(error.status, error.detail + "\n")
        for (name, value) in error.headers {
            if let name = HTTPHeaderName(name) { response.headers.add(name, value) }
        }
        return response
    }
}
