import PointsOfInterestServerAPI

/// The Swift file of the service: the definitions as values, for its catalog.
struct CatalogSource {
    private let definitions: [EventDefinition]
    private let options: GeneratorOptions

    init(_ definitions: [EventDefinition], options: GeneratorOptions) {
        self.definitions = definitions
        self.options = options
    }

    var text: String {
        var writer = SourceWriter()
        writer.head(options, module: options.module == nil ? nil : "PointsOfInterestServerAPI")
        writer.block("nonisolated extension EventCatalog") { writer in
            writer.comment("The definitions that `\(options.type)` is made from.")
            writer.line("static let \(SwiftName.member(options.type))s: [EventDefinition] = [")
            writer.indented { writer in
                for definition in definitions { write(definition, &writer) }
            }
            writer.line("]")
        }
        return writer.text
    }

    private func write(_ definition: EventDefinition, _ writer: inout SourceWriter) {
        writer.line("EventDefinition(")
        writer.indented { writer in
            writer.line("name: \(SourceWriter.literal(definition.name)),")
            writer.line("description: \(SourceWriter.literal(definition.description)),")
            if !definition.parameters.isEmpty {
                writer.line("parameters: [")
                writer.indented { writer in
                    for parameter in definition.parameters { write(parameter, &writer) }
                }
                writer.line("],")
            }
            writer.line("allowsOthers: \(definition.allowsOthers)),")
        }
    }

    private func write(_ parameter: EventParameter, _ writer: inout SourceWriter) {
        writer.line("EventParameter(")
        writer.indented { writer in
            writer.line("name: \(SourceWriter.literal(parameter.name)),")
            writer.line("description: \(SourceWriter.literal(parameter.description)),")
            writer.line("kind: \(source(parameter.kind)),")
            writer.line("isRequired: \(parameter.isRequired)),")
        }
    }

    private func source(_ kind: EventParameter.Kind) -> String {
        switch kind {
        case .text(let length): ".text(length: \(source(length)))"
        case .choice(let values): ".choice(\(source(values)))"
        case .openChoice(let values, let length): ".openChoice(\(source(values)), length: \(source(length)))"
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
