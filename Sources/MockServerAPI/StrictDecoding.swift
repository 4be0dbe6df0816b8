// Decoding that refuses unknown members: a misspelt one in a test would otherwise have no effect.

extension Decoder {
    /// Returns the object's members.
    ///
    /// - Throws: `DecodingError` for a member that isn't one of these.
    package func strictContainer<Key: CodingKey & RawRepresentable<String>>(
        of keys: [Key]
    ) throws -> KeyedDecodingContainer<Key> {
        let members = try container(keyedBy: AnyMember.self)
        let names = Set(keys.map(\.rawValue))
        if let stranger = members.allKeys.map(\.stringValue).filter({ !names.contains($0) }).min() {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath + [AnyMember(stringValue: stranger)],
                    debugDescription: "is no member; there are "
                        + keys.map(\.rawValue).joined(separator: ", ")))
        }
        return try container(keyedBy: Key.self)
    }
}

extension KeyedDecodingContainer {
    /// Makes the error of a member with a wrong value. The detail is the rest of a sentence that begins with the
    /// member's path.
    package func fault(_ key: Key, _ detail: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: detail)
    }

    /// Makes the error of a member of a member. Of a long name only the beginning is shown.
    func fault(_ key: Key, member name: String, _ detail: String) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath + [key, AnyMember(stringValue: String(name.prefix(40)))],
                debugDescription: detail))
    }

    /// Decodes one of a few words.
    func choice<Value: CaseIterable & RawRepresentable<String>>(forKey key: Key) throws -> Value {
        let text = try decode(String.self, forKey: key)
        // Byte by byte: to normalize a long text of combining marks takes time that grows with its square.
        guard let value = Value.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) else {
            throw fault(key, "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// Decodes a text whose number of bytes in UTF-8 is in a range; nil where it is absent.
    func textIfPresent(forKey key: Key, bytes range: ClosedRange<Int>) throws -> String? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard range.contains(text.utf8.count) else {
            throw fault(key, "must have \(range.lowerBound) to \(range.upperBound) bytes")
        }
        return text
    }

    /// Decodes a whole number in a range; nil where it is absent.
    func integerIfPresent(forKey key: Key, in range: ClosedRange<Int>) throws -> Int? {
        // Not as an Int: for 1.5, Foundation reports that the whole document isn't JSON (Swift 6.3 on Linux).
        guard let decoded = try decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard let number = Int(exactly: decoded), range.contains(number) else {
            throw fault(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Decodes a whole number in a range.
    package func integer(forKey key: Key, in range: ClosedRange<Int>) throws -> Int {
        try required(try integerIfPresent(forKey: key, in: range), key)
    }

    /// Decodes a number in a range; nil where it is absent.
    func numberIfPresent(forKey key: Key, in range: ClosedRange<Double>) throws -> Double? {
        guard let number = try decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard range.contains(number) else {
            throw fault(key, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Decodes a number in a range.
    func number(forKey key: Key, in range: ClosedRange<Double>) throws -> Double {
        try required(try numberIfPresent(forKey: key, in: range), key)
    }

    private func required<Value>(_ value: Value?, _ key: Key) throws -> Value {
        guard let value else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "is missing"))
        }
        return value
    }
}

/// A member of an object, by any name.
private struct AnyMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
