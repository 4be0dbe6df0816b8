import PointsOfInterestAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

/// Why a batch of events has no answer; what a client is told of it, and no more.
///
/// Whatever the reason, sending the batch again is harmless.
public enum EventStoreError: Error, Hashable, Sendable {
    /// The database can't be reached, or nobody knows whether it has the batch; `reason` is for the log, and
    /// holds nothing of an event.
    case unavailable(reason: String)
    /// As many events wait as may.
    case busy
    /// The store failed; `reason` is for the log, and holds nothing of an event.
    case failed(reason: String)
}

/// An event as a store keeps it.
public struct StoredEvent: Hashable, Sendable {
    /// What makes an event the same as another: its id, and the phone's time with it.
    public struct Key: Hashable, Sendable {
        /// The app's id for the event, or one that was derived from its content.
        public let id: UUID
        /// When it happened by the phone's clock, in microseconds since 1970.
        public let timeMicroseconds: Int64

        /// Makes a key.
        public init(id: UUID, timeMicroseconds: Int64) {
            self.id = id
            self.timeMicroseconds = timeMicroseconds
        }
    }

    /// What it is known by.
    public let key: Key
    /// Who did it, or a keyed hash of that.
    public let userID: String
    /// What happened.
    public let name: String
    /// The event's own values: a JSON object in UTF-8 that PostgreSQL takes as `jsonb`.
    public let value: ArraySlice<UInt8>
    /// Whether a test sent it.
    public let isTest: Bool

    /// Makes an event.
    public init(key: Key, userID: String, name: String, value: ArraySlice<UInt8>, isTest: Bool) {
        self.key = key
        self.userID = userID
        self.name = name
        self.value = value
        self.isTest = isTest
    }
}
