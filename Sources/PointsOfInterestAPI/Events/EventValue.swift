/// One value of an event: whatever JSON can say (RFC 8259, section 3).
public indirect enum EventValue: Hashable, Sendable {
    /// A text.
    case string(String)
    /// A whole number.
    case integer(Int)
    /// Any other number; finite.
    case number(Double)
    /// True or false.
    case boolean(Bool)
    /// Several values.
    case array([EventValue])
    /// Values by their names.
    case object([String: EventValue])
    /// No value.
    case null
}

extension EventValue {
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

    /// Whether it is true, if it is true or false.
    public var flag: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }
}

extension EventValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Makes a text.
    public init(stringLiteral text: String) { self = .string(text) }
    /// Makes a whole number.
    public init(integerLiteral number: Int) { self = .integer(number) }
    /// Makes a number.
    public init(floatLiteral number: Double) { self = .number(number) }
    /// Makes true or false.
    public init(booleanLiteral flag: Bool) { self = .boolean(flag) }
}

extension EventValue: Codable {
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
        } else if let values = try? container.decode([EventValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: EventValue].self))
        }
    }

    /// Encodes the value.
    ///
    /// - Throws: `EncodingError` for a number that is not finite.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .boolean(let flag): try container.encode(flag)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        case .null: try container.encodeNil()
        }
    }
}
