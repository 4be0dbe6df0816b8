/// The events that are known, by their names.
public struct EventCatalog: Hashable, Sendable {
    /// The events of `Events/`.
    public static let builtIn = EventCatalog(unique: TrackingEvent.definitions)

    /// No event is known, so that only envelopes are checked.
    package static let empty = EventCatalog(unique: [])

    private let definitionsByName: [String: EventDefinition]
    /// Bytes of the longest name. A longer one from outside is not looked up: its hash takes the square of its
    /// combining marks.
    private let longestName: Int

    private init(unique definitions: [EventDefinition]) {
        longestName = definitions.map(\.name.utf8.count).max() ?? 0
        definitionsByName = Dictionary(
            definitions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Makes a catalog.
    ///
    /// - Throws: `EventDefinitionError` if two definitions have one name.
    public init(_ definitions: [EventDefinition]) throws(EventDefinitionError) {
        self.init(unique: [])
        self = try merging(definitions)
    }

    /// The definitions, in the order of their names.
    public var definitions: [EventDefinition] {
        definitionsByName.values.sorted { $0.name < $1.name }
    }

    /// The definition of an event; nil if the name is not known.
    public subscript(name: String) -> EventDefinition? {
        name.utf8.count <= longestName ? definitionsByName[name] : nil
    }

    /// The catalog with more events: a team's own.
    ///
    /// - Throws: `EventDefinitionError` if a name is there already: two meanings of one name would mix in the table.
    public func merging(_ definitions: [EventDefinition]) throws(EventDefinitionError) -> EventCatalog {
        var merged = definitionsByName
        for definition in definitions {
            guard merged.updateValue(definition, forKey: definition.name) == nil else {
                throw EventDefinitionError(
                    file: "\(definition.name).json",
                    reason: "there is an event named \(definition.name) already")
            }
        }
        return EventCatalog(unique: Array(merged.values))
    }
}
