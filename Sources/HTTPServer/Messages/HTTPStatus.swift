/// A response's status: three digits and their phrase (RFC 9110 section 15).
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

    /// Whether a response of this status never has a body (RFC 9112 section 6.3).
    public var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

    /// 200, success.
    public static let ok = HTTPStatus(unchecked: 200)
    /// 201, a resource was created.
    public static let created = HTTPStatus(unchecked: 201)
    /// 204, success without a body.
    public static let noContent = HTTPStatus(unchecked: 204)
    /// 304, the client's copy is still valid.
    public static let notModified = HTTPStatus(unchecked: 304)
    /// 400, the request is invalid.
    public static let badRequest = HTTPStatus(unchecked: 400)
    /// 401, credentials are missing or wrong.
    public static let unauthorized = HTTPStatus(unchecked: 401)
    /// 404, there is no such resource.
    public static let notFound = HTTPStatus(unchecked: 404)
    /// 405, the resource doesn't have this method.
    public static let methodNotAllowed = HTTPStatus(unchecked: 405)
    /// 406, the client accepts none of the representations.
    public static let notAcceptable = HTTPStatus(unchecked: 406)
    /// 408, the request took too long to arrive.
    public static let requestTimeout = HTTPStatus(unchecked: 408)
    /// 412, the resource isn't in the state that the request demands.
    public static let preconditionFailed = HTTPStatus(unchecked: 412)
    /// 413, the body is too large.
    public static let contentTooLarge = HTTPStatus(unchecked: 413)
    /// 414, the request line is too long.
    public static let uriTooLong = HTTPStatus(unchecked: 414)
    /// 415, the resource doesn't accept the body's media type or coding.
    public static let unsupportedMediaType = HTTPStatus(unchecked: 415)
    /// 417, the server can't meet the `Expect`.
    public static let expectationFailed = HTTPStatus(unchecked: 417)
    /// 429, the client sends too many requests.
    public static let tooManyRequests = HTTPStatus(unchecked: 429)
    /// 431, the header block is too large.
    public static let requestHeaderFieldsTooLarge = HTTPStatus(unchecked: 431)
    /// 500, the server failed.
    public static let internalServerError = HTTPStatus(unchecked: 500)
    /// 501, the server doesn't know the method or the transfer coding.
    public static let notImplemented = HTTPStatus(unchecked: 501)
    /// 503, the server can't serve this request now.
    public static let serviceUnavailable = HTTPStatus(unchecked: 503)
    /// 505, the server doesn't support this version of HTTP.
    public static let httpVersionNotSupported = HTTPStatus(unchecked: 505)
}

extension HTTPStatus {
    /// The phrase that is registered for the code; empty if there is none (IANA, HTTP status codes).
    public var reasonPhrase: String {
        withReasonPhrase { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls a closure with the bytes of the phrase, without making a string.
    func withReasonPhrase<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        staticReasonPhrase.withUTF8Buffer(body)
    }

    private var staticReasonPhrase: StaticString {
        switch code {
        case 100...199: informationalPhrase
        case 200...299: successPhrase
        case 300...399: redirectionPhrase
        case 400...499: clientErrorPhrase
        case 500...599: serverErrorPhrase
        default: ""
        }
    }

    private var informationalPhrase: StaticString {
        switch code {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 103: "Early Hints"
        default: ""
        }
    }

    private var successPhrase: StaticString {
        switch code {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        default: ""
        }
    }

    private var redirectionPhrase: StaticString {
        switch code {
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        default: ""
        }
    }

    private var clientErrorPhrase: StaticString {
        switch code {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 425: "Too Early"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        default: ""
        }
    }

    private var serverErrorPhrase: StaticString {
        switch code {
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        case 511: "Network Authentication Required"
        default: ""
        }
    }
}
