/// Makes requests of a session fail: which ones, how often and how.
///
/// A rule matches a request that has all that the rule names: method, path, query items, header fields and a text in
/// the body. Of the requests that it matches, the rule lets `skip` pass, and then applies to each one, or to each
/// `every`-th, until it was used `times` times.
public struct MockFaultRule: Hashable, Sendable {
    /// The method of the requests, of at most 100 bytes; nil is any.
    public var method: String?
    /// The path of the requests, below the session's prefix: one path, or the template of a route, such as
    /// `/locations/{id}`, of at most 1000 bytes; nil is any.
    public var path: String?
    /// What the query's items must be, by their names: `["q": "coffee", "cursor": .absent]`. At most 20. Names and values
    /// are decoded, then compared byte by byte. If an item occurs more than once, one of its values has to be right.
    public var query: [String: MockCondition]
    /// What the header fields must be, by their names in any case: `["Authorization": .absent]`. At most 20. If a field
    /// occurs more than once, one of its values has to be right.
    public var headers: [String: MockCondition]
    /// A text that the body contains, byte by byte, of 1 to 4096 bytes; nil is any body. A compressed body is compared
    /// as it was sent.
    public var bodyContains: String?
    /// How many of the matching requests pass before the rule applies, 0…1,000,000.
    public var skip: Int
    /// After `skip`, the rule applies to each matching request (1), to each second one (2) and so on, up to 1,000,000.
    public var every: Int
    /// To how many requests the rule applies, 1…1,000,000; nil is no limit.
    public var times: Int?
    /// How long the response is delayed, in seconds, 0…600.
    public var delaySeconds: Double
    /// What is wrong with the response; nil is the delay alone.
    public var fault: MockFault?

    /// Makes a rule. Without arguments for them, it applies to each request of any kind.
    public init(
        method: String? = nil, path: String? = nil, query: [String: MockCondition] = [:],
        headers: [String: MockCondition] = [:], bodyContains: String? = nil, skip: Int = 0, every: Int = 1,
        times: Int? = nil, delaySeconds: Double = 0, fault: MockFault? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.bodyContains = bodyContains
        self.skip = skip
        self.every = every
        self.times = times
        self.delaySeconds = delaySeconds
        self.fault = fault
    }
}

/// What a query item or a header field of a request must be, for a rule to match the request.
public enum MockCondition: Hashable, Sendable, ExpressibleByStringLiteral {
    /// It is there with exactly this value.
    case equals(String)
    /// It is there, with any value.
    case present
    /// It isn't there.
    case absent

    /// Demands exactly this value.
    public init(stringLiteral value: String) { self = .equals(value) }

    /// Whether the values that a request has meet the condition. Bytes are compared, not characters.
    package func isMet(by values: [[UInt8]]) -> Bool {
        switch self {
        case .equals(let value): values.contains { $0.elementsEqual(value.utf8) }
        case .present: !values.isEmpty
        case .absent: values.isEmpty
        }
    }
}

extension MockCondition: Codable {
    /// Decodes a condition: a text is the exact value, `true` is present, `false` is absent.
    ///
    /// - Throws: `DecodingError` for any other JSON value.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {
            self = .equals(text)
        } else if let isPresent = try? value.decode(Bool.self) {
            self = isPresent ? .present : .absent
        } else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "must be a text, true (present) or false (absent)")
        }
    }

    /// Encodes the condition as a text, `true` or `false`.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .equals(let text): try value.encode(text)
        case .present: try value.encode(true)
        case .absent: try value.encode(false)
        }
    }
}

extension MockFaultRule: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case method, path, query, headers, bodyContains, skip, every, times, delaySeconds, fault
    }

    /// The maximum number of conditions on query items, and of those on header fields.
    private static let maximumConditionCount = 20

    /// Decodes a rule.
    ///
    /// - Throws: `DecodingError` for an unknown member, a number out of its range, a path that doesn't begin with a
    ///   slash, a name that no header field can have, and a rule that does nothing.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(of: Key.allCases)
        let count = 1...1_000_000
        self.init(
            method: try members.textIfPresent(forKey: .method, bytes: 1...100),
            path: try members.textIfPresent(forKey: .path, bytes: 1...1000),
            query: try members.conditions(forKey: .query, limit: Self.maximumConditionCount),
            headers: try members.conditions(forKey: .headers, limit: Self.maximumConditionCount),
            bodyContains: try members.textIfPresent(forKey: .bodyContains, bytes: 1...4096),
            skip: try members.integerIfPresent(forKey: .skip, in: 0...count.upperBound) ?? 0,
            every: try members.integerIfPresent(forKey: .every, in: count) ?? 1,
            times: try members.integerIfPresent(forKey: .times, in: count),
            delaySeconds: try members.numberIfPresent(forKey: .delaySeconds, in: 0...600) ?? 0,
            fault: try members.decodeIfPresent(MockFault.self, forKey: .fault))
        if let path, !path.hasPrefix("/") { throw members.fault(.path, "must begin with a slash") }
        for name in headers.keys.sorted() where !HeaderField.isName(name) {
            throw members.fault(.headers, member: name, "is no header field's name")
        }
        if fault == nil, delaySeconds == 0 {
            throw members.fault(.fault, "is missing, and so is delaySeconds: the rule would do nothing")
        }
    }

    /// Encodes the rule; members that have their default are left out.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encodeIfPresent(method, forKey: .method)
        try members.encodeIfPresent(path, forKey: .path)
        if !query.isEmpty { try members.encode(query, forKey: .query) }
        if !headers.isEmpty { try members.encode(headers, forKey: .headers) }
        try members.encodeIfPresent(bodyContains, forKey: .bodyContains)
        if skip != 0 { try members.encode(skip, forKey: .skip) }
        if every != 1 { try members.encode(every, forKey: .every) }
        try members.encodeIfPresent(times, forKey: .times)
        if delaySeconds != 0 { try members.encode(delaySeconds, forKey: .delaySeconds) }
        try members.encodeIfPresent(fault, forKey: .fault)
    }
}

extension KeyedDecodingContainer {
    /// Decodes conditions by their names, none where they are absent.
    fileprivate func conditions(forKey key: Key, limit: Int) throws -> [String: MockCondition] {
        let conditions = try decodeIfPresent([String: MockCondition].self, forKey: key) ?? [:]
        guard conditions.count <= limit else { throw fault(key, "has more than \(limit) members") }
        return conditions
    }
}

/// A rule, and how often it was used.
public struct MockFaultState: Hashable, Sendable, Codable {
    /// The rule.
    public let rule: MockFaultRule
    /// How many requests it has matched so far, those that it let pass included. Requests after its last use, and those
    /// to which an earlier rule was applied, don't count.
    public let timesMatched: Int
    /// How many requests it was applied to so far.
    public let timesUsed: Int

    /// Makes a state.
    public init(rule: MockFaultRule, timesMatched: Int, timesUsed: Int) {
        self.rule = rule
        self.timesMatched = timesMatched
        self.timesUsed = timesUsed
    }
}
