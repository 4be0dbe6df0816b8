import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// The Swift file of an app: an enum with a case for each event. Its types are `nonisolated`: in an app's module whose
/// declarations belong to the main actor by default, events can be made and read anywhere, too.
struct SwiftSource {
    private let events: [EventSource]
    private let options: GeneratorOptions

    /// - Throws: if two names of the definitions would be the same name in Swift.
    init(_ definitions: [EventDefinition], options: GeneratorOptions) throws {
        self.options = options
        events = try definitions.map(EventSource.init)
        try SwiftSource.refuseRepetition(
            of: events.map { ($0.caseName, $0.definition.name) } + [("other", "the case of all other events")]
        )
        try SwiftSource.refuseRepetition(
            of: events.flatMap(\.choices).map { ($0.typeName, "\($0.parameter.name) of its event") }
                + events.map { ($0.parametersType, "the parameters of \($0.definition.name)") })
    }

    var text: String {
        var writer = SourceWriter()
        writer.head(options, module: options.module)
        writeEnum(&writer)
        writer.line()
        writeContent(&writer)
        for event in events where !event.parameters.isEmpty {
            writer.line()
            writer.block("nonisolated extension \(options.type)") { writer in
                event.writeMakers(&writer, access: access, type: options.type)
                writer.line()
                event.writeParameters(&writer, access: access)
            }
        }
        for choice in events.flatMap(\.choices) {
            writer.line()
            writer.block("nonisolated extension \(options.type)") { choice.write(&$0, access: access) }
        }
        return writer.text
    }

    private var access: String { options.access == .internal ? "" : options.access.rawValue + " " }

    private func writeEnum(_ writer: inout SourceWriter) {
        writer.comment("The events that are defined in `\(options.definitions)`.")
        // On a line of its own, so that its line breaks don't depend on the length of the folder's path.
        writer.comment("Later versions may have more cases, and more optional parameters.")
        writer.block("\(access)nonisolated enum \(options.type): TrackableEvent") { writer in
            for event in events { event.writeCase(&writer) }
            writer.comment("Any other event: one whose name isn't here, or whose values no case can hold.")
            writer.line("case other(EventContent)")
        }
    }

    private func writeContent(_ writer: inout SourceWriter) {
        writer.block("nonisolated extension \(options.type)") { writer in
            writer.comment("Reads an event; one that no case holds as it is becomes `other`.")
            writer.block("\(access)init(_ content: EventContent)") { writer in
                writer.line("let known = Self.known(content)")
                writer.line("self = known?.content == content ? known ?? .other(content) : .other(content)")
            }
            writer.line()
            writer.block("private static func known(_ content: EventContent) -> \(options.type)?") { writer in
                if events.contains(where: { !$0.definition.parameters.isEmpty }) {
                    writer.line("let value = content.value")
                }
                writer.line("switch content.name {")
                for event in events { event.writeReading(&writer) }
                writer.line("default: return nil")
                writer.line("}")
            }
            writer.line()
            writer.comment("The name and the values, as they are sent.")
            writer.block("\(access)var content: EventContent") { writer in
                writer.line("switch self {")
                for event in events { event.writeContent(&writer) }
                writer.line("case .other(let content): content")
                writer.line("}")
            }
        }
    }

    /// Refuses names that differ in the definitions but are the same in Swift.
    private static func refuseRepetition(of names: [(swift: String, source: String)]) throws {
        var sources: [String: String] = [:]
        for (swift, source) in names {
            if let other = sources.updateValue(source, forKey: swift) {
                throw GeneratorError("\(other) and \(source) would both be \(swift) in Swift")
            }
        }
    }
}
