/// An answer: the handler says what, the server how it is framed.
///
/// `Content-Length`, `Transfer-Encoding`, `Date`, `X-Request-Id` and `Connection` are the server's to write;
/// a handler's own are left out, but that `Connection: close` still closes the connection. For `HEAD` a
/// handler answers as for `GET`: the server keeps the body back and tells its length.
public struct HTTPResponse: Sendable {
    /// The status, 200 … 599.
    public var status: HTTPStatus
    /// The fields that the handler adds.
    public var headers: HTTPHeaders
    /// The body, whole; not sent where the status or the method allows none.
    public var body: [UInt8]
    /// Whether an answer to `HEAD` tells the length of `body`; false where that isn't the length that `GET` would
    /// tell, and finding out costs too much (RFC 9110 section 8.6). Answers with a body always tell it.
    public var tellsLengthToHead = true
    /// How the answer goes over the wire.
    public var transmission = ResponseTransmission.whole

    /// An answer from its parts.
    public init(_ status: HTTPStatus, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer of plain text in UTF-8.
    public static func text(_ status: HTTPStatus, _ text: String) -> HTTPResponse {
        HTTPResponse(status, headers: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    /// Whether the handler asks for the connection to be closed behind this answer.
    var asksToClose: Bool {
        headers.withFirstValue(of: .connection) { ASCII.equalIgnoringCase($0, "close".utf8) } ?? false
    }
}
