import PointsOfInterestAPI

struct EventSchemaReader {
    let file: String

    private typealias Members = [String: JSONValue]

    func definition(_ document: JSONValue) throws(EventDefinitionError) -> EventDefinition {
        let schema = try members(document, "the definition")
        try refuseUnknown(
            schema, "the definition",
            known: [
                "$schema", "$id", "$comment", "title", "description", "type", "properties", "required",
                "additionalProperties",
            ])
        let name = try text(schema, "title", of: "the definition")
        guard Self.isKebabCase(name), name.utf8.count <= EventLimits.nameBytes else {
            throw fault("title must be in kebab case, as page-view is")
        }
        guard file == "\(name).json" || file.hasSuffix("/\(name).json") else {
            throw fault("the file of \(name) must be called \(name).json")
        }
        guard schema["type"] == "object" else { throw fault("type must be object") }
        var allowsOthers = true
        if let additional = schema["additionalProperties"] {
            guard let flag = additional.flag else {
                throw fault("additionalProperties must be true or false")
            }
            allowsOthers = flag
        }
        return EventDefinition(
            name: name, description: try text(schema, "description", of: "the definition"),
            parameters: try parameters(schema), allowsOthers: allowsOthers)
    }

    private func parameters(_ schema: Members) throws(EventDefinitionError) -> [EventParameter] {
        let properties = try schema["properties"].map { value throws(EventDefinitionError) in
            try members(value, "properties")
        }
        let required = try texts(schema, "required", of: "the definition") ?? []
        for name in required where properties?[name] == nil {
            throw fault("\(name) is required and not among the properties")
        }
        let others = (properties ?? [:]).keys.filter { !required.contains($0) }.sorted()
        guard required.count + others.count <= EventLimits.members else {
            throw fault("an event has at most \(EventLimits.members) parameters")
        }
        var parameters: [EventParameter] = []
        for name in required + others {
            guard let property = properties?[name] else { continue }
            parameters.append(try parameter(name, property, isRequired: required.contains(name)))
        }
        return parameters
    }

    private func parameter(
        _ name: String, _ document: JSONValue, isRequired: Bool
    ) throws(EventDefinitionError) -> EventParameter {
        guard Self.isParameterName(name) else {
            throw fault("\(name) is no parameter's name: letters, digits, and - or _ between them")
        }
        let property = try members(document, name)
        return EventParameter(
            name: name, description: try text(property, "description", of: name),
            kind: try kind(property, of: name), isRequired: isRequired)
    }

    private func kind(_ property: Members, of name: String) throws(EventDefinitionError)
        -> EventParameter.Kind
    {
        let common = ["type", "description", "$comment"]
        switch property["type"]?.text {
        case "string":
            try refuseUnknown(
                property, name, known: common + ["enum", "examples", "minLength", "maxLength"])
            return try textKind(property, of: name)
        case "integer":
            try refuseUnknown(property, name, known: common + ["minimum", "maximum"])
            let minimum = try bound(property, "minimum", of: name, \.wholeNumber) ?? .min
            let maximum = try bound(property, "maximum", of: name, \.wholeNumber) ?? .max
            guard minimum <= maximum else { throw fault("\(name): minimum is greater than maximum") }
            return .integer(minimum...maximum)
        case "number":
            try refuseUnknown(property, name, known: common + ["minimum", "maximum"])
            let minimum = try bound(property, "minimum", of: name, \.decimal) ?? -.greatestFiniteMagnitude
            let maximum = try bound(property, "maximum", of: name, \.decimal) ?? .greatestFiniteMagnitude
            guard minimum <= maximum else { throw fault("\(name): minimum is greater than maximum") }
            return .number(minimum...maximum)
        case "boolean":
            try refuseUnknown(property, name, known: common)
            return .boolean
        default: throw fault("\(name): type must be string, integer, number or boolean")
        }
    }

    private func textKind(
        _ property: Members, of name: String
    ) throws(EventDefinitionError) -> EventParameter.Kind {
        let minimum = try bound(property, "minLength", of: name, \.wholeNumber) ?? 0
        let maximum = try bound(property, "maxLength", of: name, \.wholeNumber) ?? EventLimits.valueBytes
        guard minimum >= 0, minimum <= maximum else {
            throw fault("\(name): minLength is greater than maxLength")
        }
        let closed = try texts(property, "enum", of: name)
        let open = try texts(property, "examples", of: name)
        switch (closed, open) {
        case (nil, nil): return .text(length: minimum...maximum)
        case (nil, let known?): return .openChoice(known, length: minimum...maximum)
        case (let values?, nil): return .choice(values)
        default: throw fault("\(name): enum and examples exclude each other")
        }
    }

    // MARK: - Members

    private func members(_ value: JSONValue, _ what: String) throws(EventDefinitionError) -> Members {
        guard case .object(let object) = value else { throw fault("\(what) must be an object") }
        return object.valuesByName
    }

    private func text(
        _ members: Members, _ key: String, of what: String
    ) throws(EventDefinitionError) -> String {
        guard let text = members[key]?.text, !text.isEmpty, !text.contains(where: \.isNewline) else {
            throw fault("\(what) must have a \(key), on one line")
        }
        return text
    }

    /// A list of different texts, none of them empty; nil where there is no list.
    private func texts(
        _ members: Members, _ key: String, of what: String
    ) throws(EventDefinitionError) -> [String]? {
        guard let list = members[key] else { return nil }
        guard case .array(let values) = list else { throw fault("\(what): \(key) must be a list of texts") }
        let texts = values.compactMap(\.text).filter { !$0.isEmpty }
        guard texts.count == values.count, Set(texts).count == texts.count else {
            throw fault("\(what): \(key) must be a list of texts, each once")
        }
        if key != "required", texts.isEmpty { throw fault("\(what): \(key) must not be empty") }
        return texts
    }

    private func bound<Number>(
        _ members: Members, _ key: String, of what: String, _ number: (JSONValue) -> Number?
    ) throws(EventDefinitionError) -> Number? {
        guard let value = members[key] else { return nil }
        guard let number = number(value) else { throw fault("\(what): \(key) must be a number of its type") }
        return number
    }

    private func refuseUnknown(
        _ members: Members, _ what: String, known: [String]
    ) throws(EventDefinitionError) {
        guard let unknown = members.keys.filter({ !known.contains($0) }).min() else { return }
        let hint = NearestName.find(for: unknown, among: known).map { "; did you mean \($0)?" } ?? ""
        throw fault("\(what) has \(unknown), which is not known\(hint)")
    }

    private func fault(_ reason: String) -> EventDefinitionError {
        EventDefinitionError(file: file, reason: reason)
    }

    // MARK: - Names

    private static func isKebabCase(_ name: String) -> Bool {
        name.wholeMatch(of: /[a-z][a-z0-9]*(-[a-z0-9]+)*/) != nil
    }

    private static func isParameterName(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*/) != nil
    }
}

extension EventDefinition {
    /// Reads a definition: a JSON Schema (2020-12) of the event's value, with the keywords that events need.
    ///
    /// The `title` is the event's name and `properties` are its parameters; those that are `required` come first,
    /// in that order, then the others by name. A property is a `string` (`minLength`, `maxLength`; `enum` for a
    /// closed list of values, `examples` for one that newer apps make longer), an `integer` or a `number`
    /// (`minimum`, `maximum`), or a `boolean`. An unknown keyword is a fault, since nothing would check it.
    ///
    /// - Parameter file: the file's name for the error; it must be the event's name with `.json`.
    package init(json: [UInt8], file: String) throws(EventDefinitionError) {
        let document: JSONValue
        do throws(JSONScanner.SyntaxError) {
            document = try JSONValue(json: json)
        } catch {
            throw EventDefinitionError(
                file: file, reason: "there should be \(error.expected.text) at byte \(error.offset)")
        }
        self = try EventSchemaReader(file: file).definition(document)
    }
}

extension JSONValue {
    /// Reads a whole document.
    ///
    /// - Throws: the first byte that isn't JSON, or a flaw, see `JSONFlaws`.
    init(json: [UInt8]) throws(JSONScanner.SyntaxError) {
        self = try json.withScanner { (scanner) throws(JSONScanner.SyntaxError) in
            try scanner.document()
        }
    }
}

extension JSONScanner {
    fileprivate mutating func document() throws(SyntaxError) -> JSONValue {
        skipBlanks()
        var reader = self
        try value()
        skipBlanks()
        guard isAtEnd else { throw fail("the end") }
        if flaws.contains(.repetition) { throw fail("each name once") }
        if flaws.contains(.text) { throw fail("well-formed text") }
        guard flaws.isEmpty else { throw fail("a smaller number") }
        return try reader.tree()
    }

    /// Reads a value in which `value()` found no flaw. It has few levels, so recursion is safe.
    fileprivate mutating func tree() throws(SyntaxError) -> JSONValue {
        switch next {
        case UInt8(ascii: "\""): return .string(try string().decoded(in: bytes))
        case UInt8(ascii: "{"):
            var members: [(String, JSONValue)] = []
            try object { (name, scanner) throws(SyntaxError) in
                members.append((name.decoded(in: scanner.bytes), try scanner.tree()))
            }
            return .object(JSONValue.Object(members))
        case UInt8(ascii: "["):
            var values: [JSONValue] = []
            try array { (scanner) throws(SyntaxError) in values.append(try scanner.tree()) }
            return .array(values)
        case UInt8(ascii: "t"):
            try literal("true")
            return .boolean(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .boolean(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default:
            let range = try number()
            if let whole = integer(ofNumber: range) { return .integer(whole) }
            return .number(value(ofNumber: range))
        }
    }
}
