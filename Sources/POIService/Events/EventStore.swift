import PointsOfInterestAPI

/// Where the app's events are kept.
///
/// A store belongs to one loop and is used on its thread only.
public protocol EventStore: AnyObject {
    /// Stores a batch, whole or not at all, and returns once it is there for good. An event that is there already,
    /// by its key, is left as it is and counted as a duplicate, and so is one that is twice in the batch.
    func store(_ events: [StoredEvent]) async throws(EventStoreError) -> EventsAnswer

    /// Lets go of what the store holds; to be awaited before its loop stops.
    func close() async
}
