import PointsOfInterestAPI

/// What a parameter's definition becomes in Swift: an associated value.
struct ParameterSource {
    let definition: EventParameter
    /// The associated value's label.
    let label: String
    /// The type of a value from a list.
    let choice: ChoiceSource?

    init(_ definition: EventParameter, of event: EventDefinition) throws {
        self.definition = definition
        label = SwiftName.member(definition.name)
        choice = try ChoiceSource(definition, of: event)
    }

    /// What the value is called within a function: not what the function calls its own values.
    var variable: String {
        ["value", "content", "known", "self"].contains(label)
            ? label + "Value" : SwiftName.escaped(label)
    }

    /// The associated value as the case declares it.
    var declaration: String {
        "\(label): \(type)" + (definition.isRequired ? "" : "? = nil")
    }

    /// What gets the value out of a content's.
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

    /// What makes a content's value of the value.
    var writing: String {
        let make: String
        var source = variable
        switch definition.kind {
        case .text: make = "string"
        case .choice, .openChoice:
            make = "string"
            source = definition.isRequired ? "\(variable).rawValue" : "(\(variable)?.rawValue)"
        case .integer: make = "integer"
        case .number: make = "number"
        case .boolean: make = "boolean"
        }
        return definition.isRequired ? ".\(make)(\(source))" : "\(source).map(EventValue.\(make))"
    }

    func writeDefinition(_ writer: inout SourceWriter) {
        writer.line("EventParameter(")
        writer.indented { writer in
            writer.line("name: \(SourceWriter.literal(definition.name)),")
            writer.line("description: \(SourceWriter.literal(definition.description)),")
            writer.line("kind: \(kind),")
            writer.line("isRequired: \(definition.isRequired)),")
        }
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

    private var kind: String {
        switch definition.kind {
        case .text(let length): ".text(length: \(source(length)))"
        case .choice(let values): ".choice(\(source(values)))"
        case .openChoice(let values, let length):
            ".openChoice(\(source(values)), length: \(source(length)))"
        case .integer(let range): ".integer(\(bound(range.lowerBound))...\(bound(range.upperBound)))"
        case .number(let range): ".number(\(bound(range.lowerBound))...\(bound(range.upperBound)))"
        case .boolean: ".boolean"
        }
    }

    private func source(_ length: ClosedRange<Int>) -> String {
        "\(length.lowerBound)...\(length.upperBound)"
    }

    private func source(_ values: [String]) -> String {
        "[\(values.map(SourceWriter.literal).joined(separator: ", "))]"
    }

    private func bound(_ number: Int) -> String {
        switch number {
        case .min: "Int.min"
        case .max: "Int.max"
        default: "\(number)"
        }
    }

    private func bound(_ number: Double) -> String {
        switch number {
        case -.greatestFiniteMagnitude: "-Double.greatestFiniteMagnitude"
        case .greatestFiniteMagnitude: "Double.greatestFiniteMagnitude"
        default: "\(number)"
        }
    }
}
