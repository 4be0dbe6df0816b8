import PointsOfInterestAPI

/// A JSON document as a value, its members in the order in which they are written.
///
/// For documents that are put together from parts; the answers on a request's way go through `JSONWriter`.
indirect enum JSONValue: Hashable, Sendable {
    case object([Member])
    case array([JSONValue])
    case string(String)
    case integer(Int)
    case number(Double)
    case flag(Bool)
    case null

    /// A member of an object.
    struct Member: Hashable, Sendable {
        let name: String
        let value: JSONValue
    }

    /// The document in bytes.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 64 * 1024)
        write(to: &writer)
        return writer.bytes
    }

    /// The object with more members behind its own; where there are two of a name, the later counts.
    func with(_ members: [(String, JSONValue)]) -> JSONValue {
        guard case .object(var own) = self else { return self }
        for (name, value) in members {
            own.removeAll { $0.name == name }
            own.append(Member(name: name, value: value))
        }
        return .object(own)
    }

    /// An object of members in their order.
    static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { Member(name: $0.0, value: $0.1) })
    }

    /// An array of strings.
    static func strings(_ strings: some Sequence<String>) -> JSONValue {
        .array(strings.map { .string($0) })
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.name(escaping: member.name)
                member.value.write(to: &writer)
            }
            writer.endObject()
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .string(let text): writer.value(text)
        case .integer(let number): writer.value(number)
        case .number(let number): writer.value(number)
        case .flag(let flag): writer.value(flag)
        case .null: writer.null()
        }
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral text: String) { self = .string(text) }
    init(integerLiteral number: Int) { self = .integer(number) }
    init(floatLiteral number: Double) { self = .number(number) }
    init(booleanLiteral flag: Bool) { self = .flag(flag) }
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(members) }
}
