import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// A parameter in Swift: a property of its event's parameters.
struct ParameterSource {
    let definition: EventParameter
    /// The property's name, which is the label of the functions that make the event.
    let label: String
    let choice: ChoiceSource?

    /// - Throws: if a property can't have the name, or two values of a list would have the same name in Swift.
    init(_ definition: EventParameter, of event: EventDefinition) throws {
        self.definition = definition
        label = SwiftName.member(definition.name)
        guard label != "hashValue" else {
            throw GeneratorError("\(event.name): Swift has no room for a parameter \(definition.name)")
        }
        choice = try ChoiceSource(definition, of: event)
    }

    /// The name of the variable with the value, in the function that reads an event. It differs from the function's own
    /// names.
    var variable: String {
        ["value", "content", "known", "self"].contains(label) ? label + "Value" : SwiftName.escaped(label)
    }

    var property: String {
        "var \(SwiftName.escaped(label)): \(type)" + (definition.isRequired ? "" : "?")
    }

    var argument: String {
        "\(argumentName == SwiftName.escaped(label) ? "" : label + " ")\(argumentName): \(type)"
            + (definition.isRequired ? "" : "? = nil")
    }

    var assignment: String { "self.\(SwiftName.escaped(label)) = \(argumentName)" }

    /// The argument as it is passed on to the parameters.
    var passedOn: String { "\(label): \(argumentName)" }

    private var argumentName: String { label == "self" ? "selfValue" : SwiftName.escaped(label) }

    /// The expression that reads the value from an `EventContent`.
    var reading: String {
        let member = "value[\(SourceWriter.literal(definition.name))]?"
        switch definition.kind {
        case .text: return "\(member).text"
        case .choice: return "\(member).text.flatMap(\(type).init(rawValue:))"
        case .openChoice: return "\(member).text.map(\(type).init(rawValue:))"
        case .integer: return "\(member).wholeNumber"
        case .number: return "\(member).decimal"
        case .boolean: return "\(member).flag"
        }
    }

    /// The expression that makes the value in an `EventContent` from the event's `parameters`.
    var writing: String {
        let make: String
        let property = "parameters.\(SwiftName.escaped(label))"
        var source = property
        switch definition.kind {
        case .text: make = "string"
        case .choice, .openChoice:
            make = "string"
            source = definition.isRequired ? "\(property).rawValue" : "(\(property)?.rawValue)"
        case .integer: make = "integer"
        case .number: make = "number"
        case .boolean: make = "boolean"
        }
        return definition.isRequired ? ".\(make)(\(source))" : "\(source).map(JSONValue.\(make))"
    }

    private var type: String {
        switch definition.kind {
        case .text: "String"
        case .choice, .openChoice: choice?.typeName ?? "String"
        case .integer: "Int"
        case .number: "Double"
        case .boolean: "Bool"
        }
    }
}

/// The type of a parameter whose values are listed: an enum, or, where newer apps have more of them, a struct.
struct ChoiceSource {
    let parameter: EventParameter
    let typeName: String
    private let isOpen: Bool
    private let values: [(name: String, value: String)]

    /// Nil if the parameter's values are not listed.
    /// - Throws: if two values would have the same name in Swift, or one would have none.
    init?(_ parameter: EventParameter, of event: EventDefinition) throws {
        let texts: [String]
        switch parameter.kind {
        case .choice(let list): (texts, isOpen) = (list, false)
        case .openChoice(let list, _): (texts, isOpen) = (list, true)
        default: return nil
        }
        self.parameter = parameter
        typeName = SwiftName.type(event.name) + SwiftName.type(parameter.name)
        values = texts.map { (SwiftName.member($0), $0) }
        var names: Set<String> = ["rawValue", "known"]
        for (name, text) in values {
            guard !name.isEmpty, names.insert(name).inserted else {
                throw GeneratorError(
                    "\(event.name): \(parameter.name) can't have \(text) beside the other values")
            }
        }
    }

    func write(_ writer: inout SourceWriter, access: String) {
        writer.comment(parameter.description)
        if isOpen { writeStruct(&writer, access) } else { writeEnum(&writer, access) }
    }

    private func writeEnum(_ writer: inout SourceWriter, _ access: String) {
        writer.block("\(access)nonisolated enum \(typeName): String, Hashable, Sendable, CaseIterable") {
            writer in
            for (name, value) in values {
                writer.comment("`\(value)`.")
                writer.line("case \(SwiftName.escaped(name)) = \(SourceWriter.literal(value))")
            }
        }
    }

    private func writeStruct(_ writer: inout SourceWriter, _ access: String) {
        let conformances = "RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral"
        writer.block("\(access)nonisolated struct \(typeName): \(conformances)") { writer in
            writer.comment("The value as it is sent.")
            writer.line("\(access)let rawValue: String")
            writer.line()
            writer.comment("Makes a value of any text, listed or not.")
            writer.line("\(access)init(rawValue: String) { self.rawValue = rawValue }")
            writer.line()
            writer.comment("Makes a value of any text, listed or not.")
            writer.line("\(access)init(stringLiteral rawValue: String) { self.rawValue = rawValue }")
            writer.line()
            for (name, value) in values {
                writer.comment("`\(value)`.")
                writer.line(
                    "\(access)static let \(SwiftName.escaped(name)): \(typeName) = \(SourceWriter.literal(value))"
                )
            }
        }
    }
}
