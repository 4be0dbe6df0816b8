import MockServerAPI

extension KeyedDecodingContainer {
    /// Refuses any other text.
    func require(_ text: String, for key: Key) throws {
        guard try decode(String.self, forKey: key) == text else { throw fault(key, "must be \"\(text)\"") }
    }

    /// Degrees from minus to plus a limit.
    func degrees(forKey key: Key, limit: Int) throws -> Double {
        let degrees = try decode(Double.self, forKey: key)
        guard abs(degrees) <= Double(limit) else {
            throw fault(key, "must be from -\(limit) to \(limit) degrees")
        }
        return degrees
    }

    /// A place's number, as the service gives them.
    func id(forKey key: Key) throws -> Int {
        // What a JSON number says for certain (RFC 8259, section 6).
        try integer(forKey: key, in: 1...9_007_199_254_740_991)
    }

    /// A text for one line of a screen.
    func line(forKey key: Key, limit: Int) throws -> String {
        let text = try decode(String.self, forKey: key)
        guard (1...limit).contains(text.unicodeScalars.count),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw fault(key, "must have 1 to \(limit) characters, and no control characters") }
        return text
    }

    /// A category's name as the service's schema has them, so that it can be asked for.
    func category(forKey key: Key) throws -> String {
        let name = try decode(String.self, forKey: key)
        guard name.utf8.count <= 50, name.wholeMatch(of: /[a-z][a-z0-9]*(_[a-z0-9]+)*/) != nil else {
            throw fault(key, "must be lower-case words joined by underscores, of at most 50 characters")
        }
        return name
    }
}
