import Foundation

/// A JSON Schema (draft 2020-12), as far as the contract's description uses it.
final class JSONSchema {
    /// The keywords that are checked, and those that only explain.
    static let keywords: Set<String> = [
        "$ref", "type", "const", "enum", "required", "properties", "items", "prefixItems", "minItems",
        "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "anyOf", "allOf", "not",
        "minProperties", "maxProperties", "additionalProperties", "format", "description", "readOnly",
    ]

    /// Members that have other values than a description of today, once the contract has grown.
    private static let openNames: Set<String> = ["code", "operatingStatus"]

    private let types: Set<String>
    private let allowed: [JSON]?
    private let required: [String]
    private let properties: [String: JSONSchema]
    /// Of the members that `properties` doesn't name.
    private let otherMembers: JSONSchema?
    private let allowsOtherMembers: Bool
    private let items: JSONSchema?
    private let prefixItems: [JSONSchema]
    private let counts: ClosedRange<Int>
    private let lengths: ClosedRange<Int>
    private let propertyCounts: ClosedRange<Int>
    private let pattern: NSRegularExpression?
    private let range: ClosedRange<Double>
    private let anyOf: [JSONSchema]
    private let allOf: [JSONSchema]
    private let not: JSONSchema?

    /// - Parameter isOpen: whether a member with this name may have other values than `enum` has, since the contract grows.
    init(_ definition: JSON, resolve: (String) -> JSON, isOpen: Bool = false) {
        let definition = definition["$ref"]?.text.map(resolve) ?? definition
        func schema(_ name: String) -> JSONSchema? {
            definition[name].map { JSONSchema($0, resolve: resolve) }
        }
        func schemas(_ name: String) -> [JSONSchema] {
            (definition[name]?.array ?? []).map { JSONSchema($0, resolve: resolve) }
        }
        func range(_ least: String, _ most: String) -> ClosedRange<Int> {
            Int(definition[least]?.number ?? 0)...(definition[most]?.number.map { Int($0) } ?? .max)
        }
        types = Set((definition["type"]?.array ?? definition["type"].map { [$0] } ?? []).compactMap(\.text))
        allowed = isOpen ? nil : definition["enum"]?.array ?? definition["const"].map { [$0] }
        required = (definition["required"]?.array ?? []).compactMap(\.text)
        properties = Dictionary(
            uniqueKeysWithValues: (definition["properties"]?.members ?? [:]).map { name, member in
                (name, JSONSchema(member, resolve: resolve, isOpen: Self.openNames.contains(name)))
            })
        allowsOtherMembers = definition["additionalProperties"] != .boolean(false)
        otherMembers =
            definition["additionalProperties"]?.members == nil ? nil : schema("additionalProperties")
        items = schema("items")
        prefixItems = schemas("prefixItems")
        counts = range("minItems", "maxItems")
        lengths = range("minLength", "maxLength")
        propertyCounts = range("minProperties", "maxProperties")
        pattern = definition["pattern"]?.text.flatMap { try? NSRegularExpression(pattern: $0) }
        self.range =
            (definition["minimum"]?.number ?? -.infinity)...(definition["maximum"]?.number ?? .infinity)
        anyOf = schemas("anyOf")
        allOf = schemas("allOf")
        not = schema("not")
    }

    /// What is wrong with a value, and where it is; nil where nothing is.
    func fault(of value: JSON, at place: String = "the body") -> String? {
        if let allowed, !allowed.contains(value) { return "\(place) is \(value.brief)" }
        if !types.isEmpty, types.isDisjoint(with: value.types) {
            return "\(place) is \(value.brief), not \(types.sorted().joined(separator: " or "))"
        }
        for schema in allOf {
            if let fault = schema.fault(of: value, at: place) { return fault }
        }
        if !anyOf.isEmpty, anyOf.allSatisfy({ $0.fault(of: value, at: place) != nil }) {
            return anyOf[0].fault(of: value, at: place)
        }
        if let not, not.fault(of: value, at: place) == nil { return "\(place) is \(value.brief)" }
        return switch value {
        case .object(let members): fault(ofMembers: members, at: place)
        case .array(let values): fault(ofItems: values, at: place)
        case .string(let text): fault(ofText: text, at: place)
        case .number(let number): range.contains(number) ? nil : "\(place) is \(value.brief)"
        default: nil
        }
    }

    private func fault(ofMembers members: [String: JSON], at place: String) -> String? {
        for name in required where members[name] == nil { return "\(place) has no `\(name)`" }
        guard propertyCounts.contains(members.count) else { return "\(place) has \(members.count) members" }
        for (name, schema) in properties {
            guard let member = members[name] else { continue }
            if let fault = schema.fault(of: member, at: "`\(name)` of \(place)") { return fault }
        }
        for (name, member) in members where properties[name] == nil {
            guard allowsOtherMembers else { return "\(place) has `\(name)`" }
            if let fault = otherMembers?.fault(of: member, at: "`\(name)` of \(place)") { return fault }
        }
        return nil
    }

    private func fault(ofItems values: [JSON], at place: String) -> String? {
        guard counts.contains(values.count) else { return "\(place) has \(values.count) items" }
        for (index, value) in values.enumerated() {
            let schema = index < prefixItems.count ? prefixItems[index] : items
            if let fault = schema?.fault(of: value, at: "item \(index + 1) of \(place)") { return fault }
        }
        return nil
    }

    private func fault(ofText text: String, at place: String) -> String? {
        guard lengths.contains(text.unicodeScalars.count) else {
            return "\(place) has \(text.unicodeScalars.count) characters"
        }
        guard let pattern else { return nil }
        let all = NSRange(text.startIndex..., in: text)
        return pattern.firstMatch(in: text, range: all) == nil ? "\(place) is \"\(text)\"" : nil
    }
}

/// A JSON value (RFC 8259) as it was sent: unlike what an app decodes, with the members that nobody asked for.
enum JSON: Hashable {
    case object([String: JSON])
    case array([JSON])
    case string(String)
    case number(Double)
    case boolean(Bool)
    case null

    /// Reads a document, which is UTF-8 without a byte order mark (section 8.1).
    init(_ data: Data) throws {
        guard !data.starts(with: [0xef, 0xbb, 0xbf]) else { throw NotJSON(reason: "a byte order mark") }
        guard String(validating: data, as: UTF8.self) != nil else {
            throw NotJSON(reason: "bytes that aren't UTF-8")
        }
        guard !Self.hasTrailingComma(data) else {
            throw NotJSON(reason: "a comma before the end of an array or object")
        }
        self.init(any: try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed))
    }

    /// Whether a comma stands before a closing bracket or brace, which Foundation's parsers let pass.
    private static func hasTrailingComma(_ data: Data) -> Bool {
        var (isText, isEscaped, last) = (false, false, UInt8(0))
        for byte in data {
            if isText {
                if byte == UInt8(ascii: "\""), !isEscaped { isText = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            if last == UInt8(ascii: ","), byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
                return true
            }
            isText = byte == UInt8(ascii: "\"")
            if byte > 0x20 { last = byte }
        }
        return false
    }

    struct NotJSON: Error {
        let reason: String
    }

    private init(any value: Any) {
        switch value {
        case let members as [String: Any]: self = .object(members.mapValues(JSON.init(any:)))
        case let values as [Any]: self = .array(values.map(JSON.init(any:)))
        case let text as String: self = .string(text)
        case let number as NSNumber:
            // Foundation has one class for numbers and booleans; only booleans have the type "c" (`char`).
            self =
                String(cString: number.objCType) == "c"
                ? .boolean(number.boolValue) : .number(number.doubleValue)
        default: self = .null
        }
    }

    var members: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
    var array: [JSON]? { if case .array(let values) = self { values } else { nil } }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }

    subscript(name: String) -> JSON? { members?[name] }

    fileprivate var types: Set<String> {
        switch self {
        case .object: ["object"]
        case .array: ["array"]
        case .string: ["string"]
        case .number(let number): number == number.rounded() ? ["number", "integer"] : ["number"]
        case .boolean: ["boolean"]
        case .null: ["null"]
        }
    }

    /// The value as a person reads it, unless it is long.
    fileprivate var brief: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string(let text): "\"\(text.prefix(80))\""
        case .number(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .null: "null"
        }
    }
}
