/// What goes wrong with a response of `poi-mock`.
public enum MockFault: Hashable, Sendable {
    /// The service responds with a problem, whatever the request is.
    ///
    /// - status: 400…599.
    /// - code: the problem's code, of 1 to 100 bytes; nil is the code of the status.
    /// - detail: the problem's detail.
    /// - retryAfterSeconds: what `Retry-After` says, 0…86400; nil leaves the field out.
    case problem(status: Int, code: String? = nil, detail: String? = nil, retryAfterSeconds: Int? = nil)
    /// Something in front of the service, a proxy or a captive portal, responds with an HTML page and a status of
    /// 200…599.
    case page(status: Int)
    /// The connection is reset, without a response.
    case reset
    /// The service does what the request asks for, and the connection is reset instead of its response: what a client knows
    /// when a network is lost at the wrong moment. Only the journal has the response's status.
    case lostResponse
    /// The connection ends after this many bytes of the body, though `Content-Length` is that of the whole body; nil is
    /// half of the body.
    case truncatedBody(bytes: Int? = nil)
    /// The response has only the first half of the body, with a `Content-Length` to match, and the tag of the whole one.
    case malformedJSON
    /// The body is followed by so many blanks that it has `bytes` bytes, 1…33,554,432: the same JSON, but more than anybody
    /// should read.
    case paddedBody(bytes: Int)
    /// The body is sent in pieces of `bytes` bytes, one every `intervalSeconds` seconds.
    case slowDrip(bytes: Int, intervalSeconds: Double)
    /// The response is exactly this one, whatever the request is.
    ///
    /// - status: 200…599.
    /// - headers: at most 50 fields. Names are tokens of at most 100 bytes, each once in any case; values have at most
    ///   8192 bytes and no control characters (RFC 9110, section 5). The server writes `Date` and `X-Request-Id`, and
    ///   whatever is about the connection or the body's length, so these can't be among them.
    /// - body: at most 262,144 bytes of UTF-8; empty with 204, 205 and 304, which have none.
    case response(status: Int, headers: [String: String] = [:], body: String = "")

    /// The kind of a fault, as it is named in a journal.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// See `MockFault.problem`.
        case problem
        /// See `MockFault.page`.
        case page
        /// See `MockFault.reset`.
        case reset
        /// See `MockFault.lostResponse`.
        case lostResponse = "lost-response"
        /// See `MockFault.truncatedBody`.
        case truncatedBody = "truncated-body"
        /// See `MockFault.malformedJSON`.
        case malformedJSON = "malformed-json"
        /// See `MockFault.paddedBody`.
        case paddedBody = "padded-body"
        /// See `MockFault.slowDrip`.
        case slowDrip = "slow-drip"
        /// See `MockFault.response`.
        case response
    }

    /// The kind of the fault.
    public var kind: Kind {
        switch self {
        case .problem: .problem
        case .page: .page
        case .reset: .reset
        case .lostResponse: .lostResponse
        case .truncatedBody: .truncatedBody
        case .malformedJSON: .malformedJSON
        case .paddedBody: .paddedBody
        case .slowDrip: .slowDrip
        case .response: .response
        }
    }
}

extension MockFault: Codable {
    fileprivate enum Key: String, CodingKey {
        case kind, status, code, detail, retryAfterSeconds, bytes, intervalSeconds, headers, body
    }

    /// Decodes a fault.
    ///
    /// - Throws: `DecodingError` for a member that its kind doesn't have, a number out of its range, and a response
    ///   that can't be sent.
    public init(from decoder: any Decoder) throws {
        let all = try decoder.container(keyedBy: Key.self)
        let kind: Kind = try all.choice(forKey: .kind)
        let members = try decoder.strictContainer(of: [Key.kind] + kind.keys)
        self =
            switch kind {
            case .problem:
                .problem(
                    status: try members.integer(forKey: .status, in: 400...599),
                    code: try members.textIfPresent(forKey: .code, bytes: 1...100),
                    detail: try members.decodeIfPresent(String.self, forKey: .detail),
                    retryAfterSeconds: try members.integerIfPresent(
                        forKey: .retryAfterSeconds, in: 0...86_400))
            case .page: .page(status: try members.integer(forKey: .status, in: 200...599))
            case .reset: .reset
            case .lostResponse: .lostResponse
            case .truncatedBody:
                .truncatedBody(bytes: try members.integerIfPresent(forKey: .bytes, in: 0...16_777_216))
            case .malformedJSON: .malformedJSON
            case .paddedBody: .paddedBody(bytes: try members.integer(forKey: .bytes, in: 1...33_554_432))
            case .slowDrip:
                .slowDrip(
                    bytes: try members.integer(forKey: .bytes, in: 1...16_777_216),
                    intervalSeconds: try members.number(forKey: .intervalSeconds, in: 0.001...60))
            case .response: try Self.response(members)
            }
    }

    /// Encodes the fault: its kind and the members of that kind.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(kind, forKey: .kind)
        switch self {
        case .problem(let status, let code, let detail, let retryAfterSeconds):
            try members.encode(status, forKey: .status)
            try members.encodeIfPresent(code, forKey: .code)
            try members.encodeIfPresent(detail, forKey: .detail)
            try members.encodeIfPresent(retryAfterSeconds, forKey: .retryAfterSeconds)
        case .page(let status): try members.encode(status, forKey: .status)
        case .truncatedBody(let bytes): try members.encodeIfPresent(bytes, forKey: .bytes)
        case .paddedBody(let bytes): try members.encode(bytes, forKey: .bytes)
        case .slowDrip(let bytes, let intervalSeconds):
            try members.encode(bytes, forKey: .bytes)
            try members.encode(intervalSeconds, forKey: .intervalSeconds)
        case .response(let status, let headers, let body):
            try members.encode(status, forKey: .status)
            if !headers.isEmpty { try members.encode(headers, forKey: .headers) }
            if !body.isEmpty { try members.encode(body, forKey: .body) }
        case .reset, .lostResponse, .malformedJSON: break
        }
    }

    private static func response(_ members: KeyedDecodingContainer<Key>) throws -> MockFault {
        let status = try members.integer(forKey: .status, in: 200...599)
        let headers = try members.decodeIfPresent([String: String].self, forKey: .headers) ?? [:]
        guard headers.count <= 50 else { throw members.fault(.headers, "has more than 50 members") }
        var names: Set<String> = []
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            let detail =
                HeaderField.fault(name: name, value: value)
                ?? (names.insert(name.lowercased()).inserted ? nil : "is there twice")
            if let detail { throw members.fault(.headers, member: name, detail) }
        }
        let body = try members.textIfPresent(forKey: .body, bytes: 0...262_144) ?? ""
        guard body.isEmpty || ![204, 205, 304].contains(status) else {
            throw members.fault(.body, "must be empty: a response with status \(status) has no body")
        }
        return .response(status: status, headers: headers, body: body)
    }
}

extension MockFault.Kind {
    /// The members of the kind.
    fileprivate var keys: [MockFault.Key] {
        switch self {
        case .problem: [.status, .code, .detail, .retryAfterSeconds]
        case .page: [.status]
        case .truncatedBody, .paddedBody: [.bytes]
        case .slowDrip: [.bytes, .intervalSeconds]
        case .response: [.status, .headers, .body]
        case .reset, .lostResponse, .malformedJSON: []
        }
    }
}

/// What a header field may be (RFC 9110, section 5).
enum HeaderField {
    /// The fields that the server writes by itself, and those that are about one connection (RFC 9110, section 7.6.1). A
    /// rule's field of such a name would be left out, or would break the framing.
    private static let serversNames: Set<String> = [
        "connection", "content-length", "date", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "x-request-id",
    ]

    /// Whether the text is a field's name: a token of at most 100 bytes.
    static func isName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && text.utf8.allSatisfy(isTokenByte)
    }

    /// What is wrong with a field of a response, as the rest of a sentence that begins with its name; nil if nothing.
    static func fault(name: String, value: String) -> String? {
        guard isName(name) else { return "is no header field's name" }
        if serversNames.contains(name.lowercased()) { return "is the server's own to write" }
        guard value.utf8.count <= 8192 else { return "has more than 8192 bytes" }
        // A line feed in it would begin a field of its own.
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
            return "has a control character"
        }
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
