/// A response: the handler decides its content, the server its framing.
///
/// The server writes `Content-Length`, `Transfer-Encoding`, `Date`, `X-Request-Id` and `Connection` itself, and leaves
/// out a handler's fields of these names; but a handler's `Connection: close` closes the connection. A handler responds
/// to `HEAD` as to `GET`: the server sends the body's length and not the body.
package struct HTTPResponse: Sendable {
    /// 200 … 599.
    package var status: HTTPStatus
    /// Whether a response to `HEAD` has a `Content-Length`, the length of `body`. False if the response to `GET` would
    /// have another length that costs too much to find out (RFC 9110 section 8.6).
    package var tellsLengthToHead = true

    private(set) var preparedFields: PreparedFields?
    /// The `ETag`; nil if the response has none, or if it is among the other fields.
    private(set) var entityTag: EntityTag?
    /// The value of `Link`; nil if the response has none, or if it is among the other fields.
    private(set) var link: [UInt8]?
    private(set) var otherFields: HTTPHeaders?
    private(set) var content: Content

    enum Content: Sendable {
        case array([UInt8])
        case memory(ResponseBody)
        case written(WrittenBody)
    }

    // Each of these sets everything itself: one that calls another copies the response, for every request.

    package init(_ status: HTTPStatus, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
        self.status = status
        otherFields = headers.isEmpty ? nil : headers
        content = .array(body)
    }

    /// Makes a response whose fields are encoded already, which is cheaper to send.
    package init(
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
    package init(
        _ status: HTTPStatus, prepared: PreparedFields, entityTag: EntityTag? = nil,
        headers: HTTPHeaders = HTTPHeaders(), body: ResponseBody
    ) {
        self.status = status
        preparedFields = prepared
        self.entityTag = entityTag
        otherFields = headers.isEmpty ? nil : headers
        content = .memory(body)
    }

    package static func text(_ status: HTTPStatus, _ text: String) -> HTTPResponse {
        HTTPResponse(status, headers: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
    }
}

extension HTTPResponse {
    /// Changing prepared fields means encoding them again; `add` avoids that.
    package var headers: HTTPHeaders {
        get {
            guard preparedFields != nil || entityTag != nil || link != nil else {
                return otherFields ?? HTTPHeaders()
            }
            var fields = preparedFields?.fields ?? HTTPHeaders()
            if let entityTag { fields.add(.eTag, entityTag.fieldValue) }
            if let link { fields.add(.link, link) }
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

    package func hasField(_ name: HTTPHeaderName) -> Bool {
        if entityTag != nil, name == .eTag { return true }
        if link != nil, name == .link { return true }
        return preparedFields?.fields.contains(name) == true || otherFields?.contains(name) == true
    }

    /// A field that many responses have, so it costs less than another one.
    package mutating func addLink(_ value: [UInt8]) {
        if link == nil, !ASCII.hasForbiddenByte(value) {
            link = value
        } else {
            var fields = HTTPHeaders()
            fields.add(.link, value)
            add(fields)
        }
    }

    package mutating func add(_ fields: HTTPHeaders) {
        otherFields =
            otherFields.map { others in
                var others = others
                others.add(contentsOf: fields)
                return others
            } ?? fields
    }

    /// Not sent if the status or the method allows none.
    package var body: [UInt8] {
        get {
            switch content {
            case .array(let bytes): bytes
            case .memory(let body): Array(body.bytes)
            case .written(let body): body.bytes
            }
        }
        set { content = .array(newValue) }
    }

    package var bodyCount: Int {
        switch content {
        case .array(let bytes): bytes.count
        case .memory(let body): body.bytes.count
        case .written(let body): body.bytes.count
        }
    }

    var asksToClose: Bool {
        if preparedFields?.asksToClose == true { return true }
        return otherFields?.asksToClose ?? false
    }

    mutating func takeBodyMemory() -> ResponseBody? {
        guard case .memory(let body) = content else { return nil }
        content = .array([])
        return body
    }
}

extension HTTPResponse {
    /// Has a handler write the response, in the server's place: what it wants of the head and the body. The connection is
    /// closed after it, or reset if the writer throws.
    ///
    /// - Parameter write: called on the loop, in a task that is cancelled when the client is gone.
    package mutating func write(
        by write:
            @escaping @Sendable (
                _ head: [UInt8], _ body: [UInt8], _ send: ([UInt8]) -> Void
            ) async throws -> Void
    ) {
        content = .written(WrittenBody(body, write))
        add([.connection: "close"])
    }
}

/// A body, and what writes it.
final class WrittenBody: Sendable {
    typealias Write = @Sendable ([UInt8], [UInt8], ([UInt8]) -> Void) async throws -> Void

    let bytes: [UInt8]
    let write: Write

    init(_ bytes: [UInt8], _ write: @escaping Write) {
        self.bytes = bytes
        self.write = write
    }
}

/// Header fields that are encoded once, for all responses that have them.
package final class PreparedFields: Sendable {
    package let fields: HTTPHeaders
    let lines: [UInt8]
    let asksToClose: Bool

    /// Without those that the server writes itself.
    package init(_ fields: HTTPHeaders) {
        self.fields = fields
        lines = ResponseEncoder.encode(fields)
        asksToClose = fields.asksToClose
    }
}

extension HTTPHeaders {
    // Hardly any response has such fields: what reads them isn't to be a part of what looks for them.
    @inline(never)
    fileprivate var asksToClose: Bool {
        firstValue(of: .connection).map { ASCII.equalIgnoringCase($0, "close".utf8) } ?? false
    }
}

/// A response's status: three digits and their phrase (RFC 9110 section 15).
package struct HTTPStatus: Hashable, Sendable, CustomStringConvertible {
    package let code: Int

    /// Nil outside 100 … 999.
    package init?(code: Int) {
        guard (100...999).contains(code) else { return nil }
        self.code = code
    }

    private init(unchecked code: Int) {
        self.code = code
    }

    package var description: String { "\(code) \(reasonPhrase)" }

    /// RFC 9112 section 6.3.
    package var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

    package static let ok = HTTPStatus(unchecked: 200)
    package static let created = HTTPStatus(unchecked: 201)
    package static let noContent = HTTPStatus(unchecked: 204)
    package static let notModified = HTTPStatus(unchecked: 304)
    package static let permanentRedirect = HTTPStatus(unchecked: 308)
    package static let badRequest = HTTPStatus(unchecked: 400)
    package static let unauthorized = HTTPStatus(unchecked: 401)
    package static let forbidden = HTTPStatus(unchecked: 403)
    package static let notFound = HTTPStatus(unchecked: 404)
    package static let methodNotAllowed = HTTPStatus(unchecked: 405)
    package static let notAcceptable = HTTPStatus(unchecked: 406)
    package static let requestTimeout = HTTPStatus(unchecked: 408)
    package static let gone = HTTPStatus(unchecked: 410)
    package static let preconditionFailed = HTTPStatus(unchecked: 412)
    package static let contentTooLarge = HTTPStatus(unchecked: 413)
    package static let uriTooLong = HTTPStatus(unchecked: 414)
    package static let unsupportedMediaType = HTTPStatus(unchecked: 415)
    package static let expectationFailed = HTTPStatus(unchecked: 417)
    package static let preconditionRequired = HTTPStatus(unchecked: 428)
    package static let tooManyRequests = HTTPStatus(unchecked: 429)
    package static let requestHeaderFieldsTooLarge = HTTPStatus(unchecked: 431)
    package static let internalServerError = HTTPStatus(unchecked: 500)
    package static let notImplemented = HTTPStatus(unchecked: 501)
    package static let serviceUnavailable = HTTPStatus(unchecked: 503)
    package static let httpVersionNotSupported = HTTPStatus(unchecked: 505)
}

extension HTTPStatus {
    /// Empty if none is registered (IANA, HTTP status codes).
    package var reasonPhrase: String { Self.reasonPhrases[code] ?? "" }

    private static let reasonPhrases = [
        100: "Continue", 101: "Switching Protocols", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required",
        412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
        428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
        507: "Insufficient Storage", 511: "Network Authentication Required",
    ]
}
