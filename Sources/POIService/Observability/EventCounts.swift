/// What became of a batch of the app's events: numbers, and nothing that an event says.
public struct EventCounts: Hashable, Sendable {
    /// Events that were new.
    public let accepted: Int
    /// Events that were there before.
    public let duplicates: Int
    /// Events of both kinds whose name no definition has: a newer app's.
    public let unknownNames: Int

    /// Makes counts.
    public init(accepted: Int, duplicates: Int, unknownNames: Int) {
        self.accepted = accepted
        self.duplicates = duplicates
        self.unknownNames = unknownNames
    }
}
