/// What an event is: its name, what it means and what its values may be. A file in `Events/` holds one.
public struct EventDefinition: Hashable, Sendable {
    /// The event's name, in kebab case.
    public let name: String
    /// What happened, in a sentence.
    public let description: String
    /// The values that the event may have, those that it must have first.
    public let parameters: [EventParameter]
    /// Whether values that aren't among the parameters are kept. They come from newer apps; a definition that
    /// says no has them refused.
    public let allowsOthers: Bool

    /// Makes a definition, of at most `EventLimits.members` parameters.
    public init(
        name: String, description: String, parameters: [EventParameter] = [], allowsOthers: Bool = true
    ) {
        self.name = name
        self.description = description
        self.parameters = parameters
        self.allowsOthers = allowsOthers
    }
}
