/// Which requests of a session go wrong, how often and how.
public struct MockFaultRule: Hashable, Sendable {
    /// The method of the requests; nil is any.
    public var method: String?
    /// The path of the requests, below the session's prefix: one path, or the template of a route, such as
    /// `/locations/{id}`; nil is any.
    public var path: String?
    /// How many requests, from 1; nil is every one.
    public var times: Int?
    /// How long the answer is kept back, in seconds, 0…600.
    public var delaySeconds: Double
    /// What is wrong with the answer; nil is nothing but the delay.
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

    /// Decodes a rule; a member that rules don't have is refused, as is a number out of its range, a path that
    /// doesn't begin with a slash, and a rule that does nothing.
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

    /// Encodes the rule; what it leaves open is left out.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encodeIfPresent(method, forKey: .method)
        try members.encodeIfPresent(path, forKey: .path)
        try members.encodeIfPresent(times, forKey: .times)
        if delaySeconds != 0 { try members.encode(delaySeconds, forKey: .delaySeconds) }
        try members.encodeIfPresent(fault, forKey: .fault)
    }
}
