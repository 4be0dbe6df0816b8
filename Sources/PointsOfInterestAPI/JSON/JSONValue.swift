/// A JSON value (RFC 8259, section 3), one of an event's values for instance.
public indirect enum JSONValue: Hashable, Sendable {
    /// A text.
    case string(String)
    /// A whole number.
    case integer(Int)
    /// Any other number; finite.
    case number(Double)
    /// True or false.
    case boolean(Bool)
    /// Several values.
    case array([JSONValue])
    /// Values by their names.
    case object(Object)
    /// No value.
    case null

    /// The members of an object, in the order in which they are written. Equality doesn't depend on the order.
    public struct Object: Hashable, Sendable, ExpressibleByDictionaryLiteral {
        /// The members. No two have the same name.
        package private(set) var members: [(name: String, value: JSONValue)]

        /// Makes an object from members in their order. Of two with the same name, the later one counts.
        package init(_ members: [(String, JSONValue)]) {
            self.members = []
            append(members)
        }

        /// Makes an object from members in their order. Of two with the same name, the later one counts.
        public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }

        /// Makes an object from members that are written in the order of their names.
        public init(_ members: [String: JSONValue]) {
            self.members = members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }

        /// The value of the member with this name; nil where there is none.
        public subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }

        /// Adds members at the end. Each replaces an earlier member of the same name.
        package mutating func append(_ added: [(String, JSONValue)]) {
            for (name, value) in added {
                members.removeAll { $0.name == name }
                members.append((name, value))
            }
        }

        /// The members' values by their names.
        package var valuesByName: [String: JSONValue] {
            Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
        }

        /// Whether both have the same members, in any order.
        public static func == (one: Object, other: Object) -> Bool { one.valuesByName == other.valuesByName }

        /// Hashes the members without their order.
        public func hash(into hasher: inout Hasher) { hasher.combine(valuesByName) }
    }
}

// MARK: - Reading values

extension JSONValue {
    /// The text, if it is one.
    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The whole number, if it is one; `3.0` is one too.
    public var wholeNumber: Int? {
        switch self {
        case .integer(let number): number
        case .number(let number): Int(exactly: number)
        default: nil
        }
    }

    /// The number, if it is one.
    public var decimal: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    /// The value if it is `true` or `false`; nil otherwise.
    public var flag: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }
}

// MARK: - Literals

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes a text.
    public init(stringLiteral text: String) { self = .string(text) }
    /// Makes a whole number.
    public init(integerLiteral number: Int) { self = .integer(number) }
    /// Makes a number.
    public init(floatLiteral number: Double) { self = .number(number) }
    /// Makes true or false.
    public init(booleanLiteral flag: Bool) { self = .boolean(flag) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an object whose members are written in this order.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(Object(members)) }
}

extension JSONValue: Decodable {
    /// Decodes any JSON value.
    ///
    /// - Throws: `DecodingError` if it is a number beyond `Double`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let flag = try? container.decode(Bool.self) {
            self = .boolean(flag)
        } else if let number = try? container.decode(Int.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let values = try? container.decode([JSONValue].self) {
            self = .array(values)
        } else {
            self = .object(Object(try container.decode([String: JSONValue].self)))
        }
    }
}

extension JSONValue: Encodable {
    /// Encodes the value.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .boolean(let flag): try container.encode(flag)
        case .array(let values): try container.encode(values)
        case .object(let object): try container.encode(object)
        case .null: try container.encodeNil()
        }
    }
}

extension JSONValue.Object: Codable {
    /// Decodes any object.
    ///
    /// - Throws: `DecodingError` if it isn't one, or has a number beyond `Double`.
    public init(from decoder: any Decoder) throws {
        self.init(try [String: JSONValue](from: decoder))
    }

    /// Encodes the members.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws { try valuesByName.encode(to: encoder) }

    /// The object's JSON, the members in their order.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.value(.object(self))
        return writer.bytes
    }
}

// MARK: - JSON

extension JSONWriter {
    /// Writes a value, the members of an object in their order.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .string(let text): self.value(text)
        case .integer(let number): self.value(number)
        case .number(let number): self.value(decimal: number)
        case .boolean(let flag): self.value(flag)
        case .null: null()
        case .array(let values):
            beginArray()
            for value in values { self.value(value) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object.members {
                name(escaping: member.name)
                self.value(member.value)
            }
            endObject()
        }
    }

    /// Writes a number, without a point or an exponent where it is whole and of at most 15 digits.
    package mutating func value(decimal number: Double) {
        if let whole = Int(exactly: number), number.magnitude < 1e15 {
            value(whole)
        } else {
            value(number)
        }
    }
}
