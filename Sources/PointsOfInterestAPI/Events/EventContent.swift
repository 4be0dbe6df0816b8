/// An event as it is sent: a name, and values of its own.
public struct EventContent: Hashable, Sendable {
    /// What happened, in kebab case: `page-view`.
    public var name: String
    /// The event's values by their names; empty where it has none.
    public var value: [String: EventValue]

    /// Makes an event's content.
    public init(name: String, value: [String: EventValue] = [:]) {
        self.name = name
        self.value = value
    }

    /// Makes an event's content of the values that there are: what `generate-events` calls.
    public init(name: String, present value: [String: EventValue?]) {
        self.init(name: name, value: value.compactMapValues { $0 })
    }
}

extension EventContent: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, value
    }

    /// Decodes `{"name": …, "value": {…}}`; without a value there are none.
    ///
    /// - Throws: `DecodingError` if there is no name, or a value that is not an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try container.decode(String.self, forKey: .name),
            value: try container.decodeIfPresent([String: EventValue].self, forKey: .value) ?? [:])
    }

    /// Encodes the name, and the value unless it is empty.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        if !value.isEmpty { try container.encode(value, forKey: .value) }
    }
}
