/// An error response, of the HTTP layer or of a handler.
///
/// The responder makes the error that a client sees from `status` and `code`; `detail` is for people, and never repeats
/// what the client sent.
package struct HTTPError: Error, Sendable {
    package enum Code: Sendable {
        case malformedRequest, uriTooLong, headersTooLarge, bodyTooLarge, requestTimeout, expectationFailed
        case versionNotSupported, methodNotImplemented, transferCodingNotImplemented
        /// No route has this path.
        case unknownPath
        /// The resource of this path doesn't exist.
        case notFound
        /// It did, and was removed.
        case gone
        case methodNotAllowed, notAcceptable, unsupportedMediaType, unsupportedContentCoding
        case preconditionFailed, preconditionRequired, unauthorized, notAnEditor, tooManyRequests
        case invalidPathEncoding, overloaded, internalError
    }

    package let status: HTTPStatus
    package let code: Code
    package let detail: String
    package let headers: HTTPHeaders

    package init(_ status: HTTPStatus, _ code: Code, _ detail: String, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers
    }
}

extension HTTPError: Equatable {
    /// Fields are not compared.
    package static func == (left: HTTPError, right: HTTPError) -> Bool {
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

    /// RFC 9110 section 13.1.1.
    package static let preconditionFailed = HTTPError(
        .preconditionFailed, .preconditionFailed, "The resource isn't as the request's If-Match demands.")

    /// The detail should name the representations.
    package static func notAcceptable(_ detail: String) -> HTTPError {
        HTTPError(.notAcceptable, .notAcceptable, detail)
    }

    static func tooManyConnections(retryAfterSeconds: Int) -> HTTPError {
        HTTPError(
            .tooManyRequests, .tooManyRequests, "This client has as many connections as it may.",
            headers: [.retryAfter: String(retryAfterSeconds)])
    }

    package static func overloaded(retryAfterSeconds: Int) -> HTTPError {
        HTTPError(
            .serviceUnavailable, .overloaded, "The server is at its limit.",
            headers: [.retryAfter: String(retryAfterSeconds)])
    }
}

/// Turns errors into responses: errors that handlers throw, the router's 404 and 405, and the errors of requests that
/// can't be read. The layer above decides the format of error responses, so it provides this.
package protocol HTTPErrorResponder {
    /// On the loop's thread; must not block. Of an error that is no `HTTPError`, nothing should be shown.
    func response(to error: any Error, context: RequestContext) -> HTTPResponse
}

package struct PlainTextErrorResponder: HTTPErrorResponder {
    package init() {}

    package func response(to error: any Error, context: RequestContext) -> HTTPResponse {
        let error = error as? HTTPError ?? .internalError
        var response = HTTPResponse.text(error.status, error.detail + "\n")
        for (name, value) in error.headers {
            if let name = HTTPHeaderName(name) { response.headers.add(name, value) }
        }
        return response
    }
}
