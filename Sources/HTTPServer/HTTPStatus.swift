/// A response status: three digits and the phrase that goes with them (RFC 9110 section 15).
public struct HTTPStatus: Hashable, Sendable, CustomStringConvertible {
    /// The status code, 100 … 999.
    public let code: Int

    /// A status from its code; nil outside 100 … 999.
    public init?(code: Int) {
        guard (100...999).contains(code) else { return nil }
        self.code = code
    }

    private init(unchecked code: Int) {
        self.code = code
    }

    /// The code and its phrase.
    public var description: String { "\(code) \(reasonPhrase)" }

    /// Whether an answer of this status ends with its header block, whatever the method
    /// (RFC 9112 section 6.3).
    public var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

    /// 200, the answer is in the body.
    public static let ok = HTTPStatus(unchecked: 200)
    /// 201, something was made.
    public static let created = HTTPStatus(unchecked: 201)
    /// 202, taken but not done yet.
    public static let accepted = HTTPStatus(unchecked: 202)
    /// 204, done, nothing to say.
    public static let noContent = HTTPStatus(unchecked: 204)
    /// 304, what the client holds is still right.
    public static let notModified = HTTPStatus(unchecked: 304)
    /// 400, the request makes no sense.
    public static let badRequest = HTTPStatus(unchecked: 400)
    /// 401, credentials are missing or wrong.
    public static let unauthorized = HTTPStatus(unchecked: 401)
    /// 403, these credentials do not suffice.
    public static let forbidden = HTTPStatus(unchecked: 403)
    /// 404, there is no such resource.
    public static let notFound = HTTPStatus(unchecked: 404)
    /// 405, the resource has other methods.
    public static let methodNotAllowed = HTTPStatus(unchecked: 405)
    /// 406, no representation that the client accepts.
    public static let notAcceptable = HTTPStatus(unchecked: 406)
    /// 408, the request took too long to arrive.
    public static let requestTimeout = HTTPStatus(unchecked: 408)
    /// 409, in conflict with the resource's state.
    public static let conflict = HTTPStatus(unchecked: 409)
    /// 412, the resource isn't as the request demands.
    public static let preconditionFailed = HTTPStatus(unchecked: 412)
    /// 413, the body is larger than the server takes.
    public static let contentTooLarge = HTTPStatus(unchecked: 413)
    /// 414, the request line is longer than the server takes.
    public static let uriTooLong = HTTPStatus(unchecked: 414)
    /// 415, the body's media type isn't one the resource takes.
    public static let unsupportedMediaType = HTTPStatus(unchecked: 415)
    /// 417, an `Expect` that the server cannot meet.
    public static let expectationFailed = HTTPStatus(unchecked: 417)
    /// 429, this client asks too often.
    public static let tooManyRequests = HTTPStatus(unchecked: 429)
    /// 431, the header block is larger than the server takes.
    public static let requestHeaderFieldsTooLarge = HTTPStatus(unchecked: 431)
    /// 500, the server failed.
    public static let internalServerError = HTTPStatus(unchecked: 500)
    /// 501, a method or transfer coding that the server does not know.
    public static let notImplemented = HTTPStatus(unchecked: 501)
    /// 503, not now.
    public static let serviceUnavailable = HTTPStatus(unchecked: 503)
    /// 504, something behind the server took too long.
    public static let gatewayTimeout = HTTPStatus(unchecked: 504)
    /// 505, a version of HTTP that the server does not speak.
    public static let httpVersionNotSupported = HTTPStatus(unchecked: 505)
}
