/// The requests that a session has got, in the order in which they arrived.
public struct MockJournal: Hashable, Sendable, Codable {
    /// The requests that are kept, the newest last.
    public let requests: [MockRequest]
    /// How many older ones were dropped, because a journal is bounded.
    public let dropped: Int

    /// Makes a journal.
    public init(requests: [MockRequest], dropped: Int) {
        self.requests = requests
        self.dropped = dropped
    }
}
