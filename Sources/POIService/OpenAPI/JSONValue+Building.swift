import PointsOfInterestAPI

/// Functions that put documents together from parts. Responses with data are written by `JSONWriter` alone.
extension JSONValue {
    /// The document in bytes.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 64 * 1024)
        writer.value(self)
        return writer.bytes
    }

    /// The object with more members behind its own; where two have one name, the later one counts.
    func with(_ members: [(String, JSONValue)]) -> JSONValue {
        guard case .object(var object) = self else { return self }
        object.append(members)
        return .object(object)
    }

    /// An object of members in their order.
    static func object(_ members: [(String, JSONValue)]) -> JSONValue { .object(Object(members)) }

    /// An array of strings.
    static func strings(_ strings: some Sequence<String>) -> JSONValue {
        .array(strings.map { .string($0) })
    }
}
