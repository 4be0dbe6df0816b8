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
        self.init(status, headers: headers, body: body)
        preparedFields = prepared
        self.entityTag = entityTag
    }

    /// Makes a response whose body has room for the head in front of it, so that nothing is copied to send both.
    public init(
        _ status: HTTPStatus, prepared: PreparedFields, entityTag: EntityTag? = nil,
        headers: HTTPHeaders = HTTPHeaders(), body: ResponseBody
    ) {
        self.init(status, prepared: prepared, entityTag: entityTag, headers: headers)
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
        if link == nil, HeadGuard.endOfText(in: value, from: 0) == value.count {
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
