/// Makes requests of a session fail: which ones, how often and how.
public struct MockFaultRule: Hashable, Sendable {
    /// The method of the requests; nil is any.
    public var method: String?
    /// The path of the requests, below the session's prefix: one path, or the template of a route, such as
    /// `/locations/{id}`; nil is any.
    public var path: String?
    /// How many requests, from 1; nil is every one.
    public var times: Int?
    /// How long the response is delayed, in seconds, 0…600.
    public var delaySeconds: Double
    /// What is wrong with the response; nil is the delay alone.
    public var fault: MockFault?

    /// Makes a rule.
    public init(
        method: String? = nil, path: String? = nil, times: Int? = nil, delaySeconds: Double = 0,
        fault: MockFault? = nil
    ) {
        self.method = method
        self.path = path
        self.times = times
        self.delaySeconds = delaySeconds
        self.fault = fault
    }
}

extension MockFaultRule: Codable {
    private enum Key: String, CodingKey {
        case method, path, times, delaySeconds, fault
    }

    /// Decodes a rule.
    ///
    /// - Throws: `DecodingError` for an unknown member, a number out of its range, a path that doesn't begin with a
    ///   slash, and a rule that does nothing.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(of: [
            Key.method, .path, .times, .delaySeconds, .fault,
        ])
        self.init(
            method: try members.decodeIfPresent(String.self, forKey: .method),
            path: try members.decodeIfPresent(String.self, forKey: .path),
            times: try members.integerIfPresent(forKey: .times, in: 1...1_000_000),
            delaySeconds: try members.numberIfPresent(forKey: .delaySeconds, in: 0...600) ?? 0,
            fault: try members.decodeIfPresent(MockFault.self, forKey: .fault))
        if let path, !path.hasPrefix("/") { throw members.fault(.path, "must begin with a slash") }
        if fault == nil, delaySeconds == 0 {
            throw members.fault(.fault, "is missing, and so is delaySeconds: the rule would do nothing")
        }
    }

    /// Encodes the rule; members that are nil are left out.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encodeIfPresent(method, forKey: .method)
        try members.encodeIfPresent(path, forKey: .path)
        try members.encodeIfPresent(times, forKey: .times)
        if delaySeconds != 0 { try members.encode(delaySeconds, forKey: .delaySeconds) }
        try members.encodeIfPresent(fault, forKey: .fault)
    }
}

/// A rule, and how often it was used.
public struct MockFaultState: Hashable, Sendable, Codable {
    /// The rule.
    public let rule: MockFaultRule
    /// How many requests it was applied to so far.
    public let timesUsed: Int

    /// Makes a state.
    public init(rule: MockFaultRule, timesUsed: Int) {
        self.rule = rule
        self.timesUsed = timesUsed
    }
}

/// What goes wrong with a response of `poi-mock`.
public enum MockFault: Hashable, Sendable {
    /// The service responds with a problem, whatever the request is.
    ///
    /// - status: 400…599.
    /// - code: the problem's code; nil is the code of the status.
    /// - detail: the problem's detail.
    /// - retryAfterSeconds: what `Retry-After` says, 0…86400; nil leaves the field out.
    case problem(status: Int, code: String? = nil, detail: String? = nil, retryAfterSeconds: Int? = nil)
    /// Something in front of the service, a proxy or a captive portal, responds with an HTML page and a status of
    /// 200…599.
    case page(status: Int)
    /// The connection is reset, without a response.
    case reset
    /// The connection ends after this many bytes of the body, though `Content-Length` is that of the whole body; nil is
    /// half of the body.
    case truncatedBody(bytes: Int? = nil)
    /// The response has only the first half of the body, with a `Content-Length` to match.
    case malformedJSON
    /// The body is sent in pieces of `bytes` bytes, one every `intervalSeconds` seconds.
    case slowDrip(bytes: Int, intervalSeconds: Double)

    /// The kind of a fault, as it is named in a journal.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// See `MockFault.problem`.
        case problem
        /// See `MockFault.page`.
        case page
        /// See `MockFault.reset`.
        case reset
        /// See `MockFault.truncatedBody`.
        case truncatedBody = "truncated-body"
        /// See `MockFault.malformedJSON`.
        case malformedJSON = "malformed-json"
        /// See `MockFault.slowDrip`.
        case slowDrip = "slow-drip"
    }

    /// The kind of the fault.
    public var kind: Kind {
        switch self {
        case .problem: .problem
        case .page: .page
        case .reset: .reset
        case .truncatedBody: .truncatedBody
        case .malformedJSON: .malformedJSON
        case .slowDrip: .slowDrip
        }
    }
}

extension MockFault: Codable {
    fileprivate enum Key: String, CodingKey {
        case kind, status, code, detail, retryAfterSeconds, bytes, intervalSeconds
    }

    /// Decodes a fault.
    ///
    /// - Throws: `DecodingError` for a member that its kind doesn't have, and a number out of its range.
    public init(from decoder: any Decoder) throws {
        let all = try decoder.container(keyedBy: Key.self)
        guard let kind = Kind(rawValue: try all.decode(String.self, forKey: .kind)) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw all.fault(.kind, "must be one of \(kinds)")
        }
        let members = try decoder.strictContainer(of: [Key.kind] + kind.keys)
        self =
            switch kind {
            case .problem:
                .problem(
                    status: try members.integer(forKey: .status, in: 400...599),
                    code: try members.decodeIfPresent(String.self, forKey: .code),
                    detail: try members.decodeIfPresent(String.self, forKey: .detail),
                    retryAfterSeconds: try members.integerIfPresent(
                        forKey: .retryAfterSeconds, in: 0...86_400))
            case .page: .page(status: try members.integer(forKey: .status, in: 200...599))
            case .reset: .reset
            case .truncatedBody:
                .truncatedBody(bytes: try members.integerIfPresent(forKey: .bytes, in: 0...16_777_216))
            case .malformedJSON: .malformedJSON
            case .slowDrip:
                .slowDrip(
                    bytes: try members.integer(forKey: .bytes, in: 1...16_777_216),
                    intervalSeconds: try members.number(forKey: .intervalSeconds, in: 0.001...60))
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
        case .slowDrip(let bytes, let intervalSeconds):
            try members.encode(bytes, forKey: .bytes)
            try members.encode(intervalSeconds, forKey: .intervalSeconds)
        case .reset, .malformedJSON: break
        }
    }
}

extension MockFault.Kind {
    /// The members of the kind.
    fileprivate var keys: [MockFault.Key] {
        switch self {
        case .problem: [.status, .code, .detail, .retryAfterSeconds]
        case .page: [.status]
        case .truncatedBody: [.bytes]
        case .slowDrip: [.bytes, .intervalSeconds]
        case .reset, .malformedJSON: []
        }
    }
}
