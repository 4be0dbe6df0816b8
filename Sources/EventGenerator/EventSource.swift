import PointsOfInterestAPI

/// What an event's definition becomes in Swift.
struct EventSource {
    let definition: EventDefinition
    let caseName: String
    let parameters: [ParameterSource]

    init(_ definition: EventDefinition) throws {
        self.definition = definition
        caseName = SwiftName.member(definition.name)
        parameters = try definition.parameters.map { try ParameterSource($0, of: definition) }
        var labels: Set<String> = []
        for parameter in parameters where !labels.insert(parameter.label).inserted {
            throw GeneratorError(
                "\(definition.name): two parameters would both be \(parameter.label) in Swift")
        }
    }

    var choices: [ChoiceSource] { parameters.compactMap(\.choice) }

    private var caseReference: String { SwiftName.escaped(caseName) }
    private var nameLiteral: String { SourceWriter.literal(definition.name) }

    func writeCase(_ writer: inout SourceWriter) {
        writer.comment(definition.description)
        if !parameters.isEmpty {
            writer.line("///")
            writer.line("/// - Parameters:")
            for parameter in parameters {
                writer.comment(parameter.definition.description, mark: "  - \(parameter.label): ")
            }
        }
        guard !parameters.isEmpty else { return writer.line("case \(caseReference)") }
        writer.call("case \(caseReference)", parameters.map(\.declaration), close: "")
    }

    func writeReading(_ writer: inout SourceWriter) {
        guard !parameters.isEmpty else {
            return writer.line("case \(nameLiteral): return .\(caseReference)")
        }
        writer.line("case \(nameLiteral):")
        writer.indented { writer in
            let required = parameters.filter(\.definition.isRequired)
            if !required.isEmpty {
                let bindings = required.map { "let \($0.variable) = \($0.reading)" }
                if bindings.count == 1 {
                    writer.line("guard \(bindings[0]) else { return nil }")
                } else {
                    writer.line("guard \(bindings.joined(separator: ",\n                "))")
                    writer.line("else { return nil }")
                }
            }
            let arguments = parameters.map { parameter in
                "\(parameter.label): "
                    + (parameter.definition.isRequired ? parameter.variable : parameter.reading)
            }
            writer.call("return .\(caseReference)", arguments, close: "")
        }
    }

    func writeContent(_ writer: inout SourceWriter) {
        guard !parameters.isEmpty else {
            return writer.line("case .\(caseReference): EventContent(name: \(nameLiteral))")
        }
        writer.line(
            "case .\(caseReference)(\(parameters.map { "let " + $0.variable }.joined(separator: ", "))):")
        writer.indented { writer in
            let members = parameters.map { "\(SourceWriter.literal($0.definition.name)): \($0.writing)" }
            writer.call(
                "EventContent", ["name: \(nameLiteral)", "present: [\(members.joined(separator: ", "))]"],
                close: "")
        }
    }

    func writeDefinition(_ writer: inout SourceWriter) {
        writer.line("EventDefinition(")
        writer.indented { writer in
            writer.line("name: \(nameLiteral),")
            writer.line("description: \(SourceWriter.literal(definition.description)),")
            if !parameters.isEmpty {
                writer.line("parameters: [")
                writer.indented { writer in
                    for parameter in parameters { parameter.writeDefinition(&writer) }
                }
                writer.line("],")
            }
            writer.line("allowsOthers: \(definition.allowsOthers)),")
        }
    }
}
