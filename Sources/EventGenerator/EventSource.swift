import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// An event in Swift: a case of the enum. Its parameters are one value, a struct, so that code for a case
/// (`case .search(let search)`) still compiles when the event gets more parameters.
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

    var parametersType: String { SwiftName.type(definition.name) + "Parameters" }

    var choices: [ChoiceSource] { parameters.compactMap(\.choice) }

    private var caseReference: String { SwiftName.escaped(caseName) }
    private var nameLiteral: String { SourceWriter.literal(definition.name) }

    func writeCase(_ writer: inout SourceWriter) {
        writer.comment(definition.description)
        writer.line("case \(caseReference)" + (parameters.isEmpty ? "" : "(\(parametersType))"))
    }

    func writeMakers(_ writer: inout SourceWriter, access: String, type: String) {
        // Code that was written before the event had parameters says `.featuredShown`.
        if !parameters.contains(where: \.definition.isRequired) {
            writer.comment(definition.description)
            writer.line(
                "\(access)static var \(caseReference): \(type) { .\(caseReference)(\(parametersType)()) }")
            writer.line()
        }
        writeCommentOnParameters(&writer, definition.description)
        let head = "\(access)static func \(caseReference)"
        writer.call(head, parameters.map(\.argument), close: " -> \(type) {")
        writer.indented { writer in
            writer.call(".\(caseReference)(\(parametersType)", parameters.map(\.passedOn), close: ")")
        }
        writer.line("}")
    }

    func writeParameters(_ writer: inout SourceWriter, access: String) {
        writer.comment("The parameters of `\(definition.name)`.")
        writer.block("\(access)nonisolated struct \(parametersType): Hashable, Sendable") { writer in
            for parameter in parameters {
                writer.comment(parameter.definition.description)
                writer.line(access + parameter.property)
            }
            writer.line()
            writeCommentOnParameters(&writer, "Makes the parameters.")
            writer.call("\(access)init", parameters.map(\.argument), close: " {")
            writer.indented { writer in
                for parameter in parameters { writer.line(parameter.assignment) }
            }
            writer.line("}")
        }
    }

    private func writeCommentOnParameters(_ writer: inout SourceWriter, _ summary: String) {
        writer.comment(summary)
        writer.line("///")
        writer.line("/// - Parameters:")
        for parameter in parameters {
            writer.comment(parameter.definition.description, mark: "  - \(parameter.label): ")
        }
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
        writer.line("case .\(caseReference)(let parameters):")
        writer.indented { writer in
            let members = parameters.map { "\(SourceWriter.literal($0.definition.name)): \($0.writing)" }
            writer.call(
                "EventContent", ["name: \(nameLiteral)", "present: [\(members.joined(separator: ", "))]"],
                close: "")
        }
    }
}
