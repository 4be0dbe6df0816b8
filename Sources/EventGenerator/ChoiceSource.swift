import PointsOfInterestAPI

/// The type of a parameter whose values are listed: an enum, or, where newer apps have more of them, a struct.
struct ChoiceSource {
    let parameter: EventParameter
    let typeName: String
    private let isOpen: Bool
    private let values: [(name: String, value: String)]

    /// Nil if the parameter's values are not listed.
    ///
    /// - Throws: if two values make one name of Swift, or one makes none.
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
        writer.block("\(access)enum \(typeName): String, Hashable, Sendable, CaseIterable") { writer in
            for (name, value) in values {
                writer.comment("`\(value)`.")
                writer.line("case \(SwiftName.escaped(name)) = \(SourceWriter.literal(value))")
            }
        }
    }

    private func writeStruct(_ writer: inout SourceWriter, _ access: String) {
        let conformances = "RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral"
        writer.block("\(access)struct \(typeName): \(conformances)") { writer in
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
