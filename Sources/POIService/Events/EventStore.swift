import PointsOfInterestAPI

/// Where the app's events are kept.
///
/// A store belongs to one loop and is used on its thread only.
public protocol EventStore: AnyObject {
    /// Stores a batch, whole or not at all, and returns once it is there for good. An event that is there already,
    /// by its key, is left as it is and counted as a duplicate, and so is one that is twice in the batch.
    func store(_ events: [StoredEvent]) async throws(EventStoreError) -> EventsResponse

    /// Whether the store's database answers; nil where that can't be told now, or it is the places' own database.
    func checkHealth() async -> StoreHealth?

    /// Adds what the store knows in numbers, by `DatabaseMetrics` for instance; of its own loop only.
    func collectMetrics(into snapshot: inout MetricsSnapshot)

    /// Lets go of what the store holds; to be awaited before its loop stops.
    func close() async
}

extension EventStore {
    /// Nothing to tell.
    public func checkHealth() async -> StoreHealth? { nil }

    /// Nothing.
    public func collectMetrics(into snapshot: inout MetricsSnapshot) {}
}
