extension Problem: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, code, requestId, errors
    }

    /// Decodes a problem document, a proxy's too: a member that is missing or malformed is as if absent
    /// (RFC 9457, section 3.1), a status then 0 and a code `unspecified`.
    ///
    /// - Throws: `DecodingError` if this is not a JSON object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func optional<Member: Decodable>(_ key: CodingKeys) -> Member? {
            try? container.decodeIfPresent(Member.self, forKey: key)
        }
        type = optional(.type) ?? "about:blank"
        status = optional(.status) ?? 0
        detail = optional(.detail)
        code = optional(.code) ?? .unspecified
        title = optional(.title) ?? "The request failed"
        requestId = optional(.requestId)
        // A fault of an event has an index, one of a parameter has none.
        eventErrors = optional(.errors) ?? []
        errors = eventErrors.isEmpty ? optional(.errors) ?? [] : []
    }

    /// Encodes the document; empty members are left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try container.encode(title, forKey: .title)
        try container.encode(status, forKey: .status)
        try container.encodeIfPresent(detail, forKey: .detail)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(requestId, forKey: .requestId)
        if !errors.isEmpty { try container.encode(errors, forKey: .errors) }
        if !eventErrors.isEmpty { try container.encode(eventErrors, forKey: .errors) }
    }
}
