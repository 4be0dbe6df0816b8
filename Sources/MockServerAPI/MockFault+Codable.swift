extension MockFault: Codable {
    fileprivate enum Key: String, CodingKey {
        case kind, status, code, detail, retryAfterSeconds, bytes, intervalSeconds
    }

    /// Decodes a fault; a member that its kind doesn't have is refused, as is a number out of its range.
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

    /// Encodes the fault: its kind, and what belongs to it.
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
    /// The members that go with the kind.
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
