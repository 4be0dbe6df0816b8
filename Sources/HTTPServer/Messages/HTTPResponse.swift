/// A response: the handler decides its content, the server its framing.
///
/// The server writes `Content-Length`, `Transfer-Encoding`, `Date`, `X-Request-Id` and `Connection` itself, and leaves
/// out a handler's fields of these names; but a handler's `Connection: close` closes the connection. A handler responds
/// to `HEAD` as to `GET`: the server sends the body's length and not the body.
public struct HTTPResponse: Sendable {
    /// The status, 200 … 599.
    public var status: HTTPStatus
    /// Whether a response to `HEAD` has a `Content-Length`, the length of `body`. False if the response to `GET` would
    /// have another length that costs too much to find out (RFC 9110 section 8.6).
    public var tellsLengthToHead = true
    /// How the response is sent.
    public var transmission = ResponseTransmission.whole

    /// Fields that were encoded before; they are sent first.
    private(set) var preparedFields: PreparedFields?
    /// The `ETag`; nil if the response has none, or if it is among the other fields.
    private(set) var entityTag: EntityTag?
    /// The value of `Link`; nil if the response has none, or if it is among the other fields.
    private(set) var link: [UInt8]?
    /// The fields that follow those; nil if there are none.
    private(set) var otherFields: HTTPHeaders?
    private(set) var content: Content

    /// A complete body.
    enum Content: Sendable {
        case array([UInt8])
        case memory(ResponseBody)
    }

    // Each of these sets everything itself: one that calls another copies the response, for every request.

    /// Makes a response from its parts.
    public init(_ status: HTTPStatus, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
        self.status = status
        otherFields = headers.isEmpty ? nil : headers
        content = .array(body)
    }

    /// Makes a response whose fields are encoded already, which is cheaper to send.
    ///
    /// - Parameters:
    ///   - entityTag: becomes the field `ETag`.
    ///   - headers: the other fields.
    public init(
        _ status: HTTPStatus, prepared: PreparedFields, entityTag: EntityTag? = nil,
        headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []
    ) {
        self.status = status
        preparedFields = prepared
        self.entityTag = entityTag
        otherFields = headers.isEmpty ? nil : headers
        content = .array(body)
    }

    /// Makes a response whose body has room for the head in front of it, so that nothing is copied to send both.
    public init(
        _ status: HTTPStatus, prepared: PreparedFields, entityTag: EntityTag? = nil,
        headers: HTTPHeaders = HTTPHeaders(), body: ResponseBody
    ) {
        self.status = status
        preparedFields = prepared
        self.entityTag = entityTag
        otherFields = headers.isEmpty ? nil : headers
        content = .memory(body)
    }

    /// Makes a response of plain text in UTF-8.
    public static func text(_ status: HTTPStatus, _ text: String) -> HTTPResponse {
        HTTPResponse(status, headers: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
    }
}

extension HTTPResponse {
    /// The fields that the handler adds, in the order in which they are sent.
    ///
    /// Changing prepared fields means encoding them again; `add` avoids that.
    public var headers: HTTPHeaders {
        get {
            guard preparedFields != nil || entityTag != nil || link != nil else {
                return otherFields ?? HTTPHeaders()
            }
            var fields = preparedFields?.fields ?? HTTPHeaders()
            if let entityTag { fields.add(.eTag, entityTag.fieldValue) }
            if let link { link.withUnsafeBytes { fields.add(.link, $0) } }
            if let otherFields { fields.add(contentsOf: otherFields) }
            return fields
        }
        set {
            preparedFields = nil
            entityTag = nil
            link = nil
            otherFields = newValue.isEmpty ? nil : newValue
        }
    }

    /// Whether there is a field of this name.
    public func hasField(_ name: HTTPHeaderName) -> Bool {
        if entityTag != nil, name == .eTag { return true }
        if link != nil, name == .link { return true }
        return preparedFields?.fields.contains(name) == true || otherFields?.contains(name) == true
    }

    /// Adds the field `Link`, which many responses have, so it costs less than another field.
    ///
    /// - Parameter value: without CR, LF and NUL, or it is added like another field.
    public mutating func addLink(_ value: UnsafeRawBufferPointer) {
        if link == nil, !HTTPHeaders.hasForbiddenByte(value) {
            link = Array(value)
        } else {
            var fields = HTTPHeaders()
            fields.add(.link, value)
            add(fields)
        }
    }

    /// Adds fields behind those that are there.
    public mutating func add(_ fields: HTTPHeaders) {
        otherFields =
            otherFields.map { others in
                var others = others
                others.add(contentsOf: fields)
                return others
            } ?? fields
    }

    /// The complete body. Not sent if the status or the method allows none.
    public var body: [UInt8] {
        get {
            switch content {
            case .array(let bytes): bytes
            case .memory(let body): Array(body.bytes)
            }
        }
        set { content = .array(newValue) }
    }

    /// Length of the body in bytes.
    public var bodyCount: Int {
        switch content {
        case .array(let bytes): bytes.count
        case .memory(let body): body.bytes.count
        }
    }

    /// Whether the handler wants the connection closed after this response.
    var asksToClose: Bool {
        if preparedFields?.asksToClose == true { return true }
        return otherFields?.asksToClose ?? false
    }

    /// Lets go of the body, which was sent.
    mutating func takeBodyMemory() -> ResponseBody? {
        guard case .memory(let body) = content else { return nil }
        content = .array([])
        return body
    }
}

/// Header fields that are encoded once, for all responses that have them.
public final class PreparedFields: Sendable {
    /// The fields, in the order in which they are sent.
    public let fields: HTTPHeaders
    /// Lines, each with its CRLF.
    let lines: [UInt8]
    let asksToClose: Bool

    /// Encodes fields, apart from those that the server writes itself.
    public init(_ fields: HTTPHeaders) {
        self.fields = fields
        lines = ResponseEncoder.encode(fields)
        asksToClose = fields.asksToClose
    }
}

extension HTTPHeaders {
    /// Whether a handler's fields ask for the connection to be closed.
    fileprivate var asksToClose: Bool {
        withFirstValue(of: .connection) { ASCII.equalIgnoringCase($0, "close".utf8) } ?? false
    }
}

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
