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
