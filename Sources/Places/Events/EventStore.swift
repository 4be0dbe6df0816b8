import PointsOfInterestAPI
import Telemetry

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Stores the app's events.
///
/// A store belongs to one loop and is used on its thread only.
package protocol EventStore: AnyObject {
    /// Stores all events of a batch or none, and returns once they are durable. An event whose key is already stored, or
    /// occurs earlier in the batch, is not stored and counts as a duplicate, unless the key is derived.
    func store(_ events: [StoredEvent]) async throws(EventStoreError) -> EventsResponse

    /// The state of the store's database; nil if it isn't known now, or if it is the places' database.
    func checkHealth() async -> StoreHealth?

    /// Adds the store's metrics, such as those of `DatabaseMetrics`, for its own loop.
    func collectMetrics(into snapshot: inout MetricsSnapshot)

    /// Closes the store. Has to end before its loop stops.
    func close() async
}

extension EventStore {
    /// No state, by default.
    package func checkHealth() async -> StoreHealth? { nil }

    package func collectMetrics(into snapshot: inout MetricsSnapshot) {}
}

/// Why a batch of events could not be stored. Clients are told the case, and never the reason.
///
/// In each case it is safe to send the batch again.
package enum EventStoreError: Error, Hashable, Sendable {
    /// The database can't be reached, or it isn't known whether it has the batch. `reason` is for the log, and has no
    /// content of an event.
    case unavailable(reason: String)
    /// Too many batches are waiting.
    case busy
    /// The store failed. `reason` is for the log, and has no content of an event.
    case failed(reason: String)
}

/// An event as a store keeps it.
package struct StoredEvent: Hashable, Sendable {
    /// What identifies an event: its id together with its time.
    package struct Key: Hashable, Sendable {
        /// The app's id for the event, or one derived from its content.
        package let id: UUID
        /// When it happened by the phone's clock, in microseconds since 1970.
        package let timeMicroseconds: Int64

        package init(id: UUID, timeMicroseconds: Int64) {
            self.id = id
            self.timeMicroseconds = timeMicroseconds
        }

        /// Whether the id was derived from the event's content, which makes a UUID of version 8 (RFC 9562, section 5.8).
        ///
        /// Such an event counts as accepted whether or not it was there: anybody could ask for it by its content.
        package var isDerived: Bool { id.version == 8 }
    }

    /// What identifies the event.
    package let key: Key
    /// The user's id, or a keyed hash of it.
    package let userID: String
    package let name: String
    /// The event's value: a JSON object in UTF-8 that PostgreSQL accepts as `jsonb`.
    package let value: ArraySlice<UInt8>
    /// Whether a test sent it.
    package let isTest: Bool

    /// Makes an event.
    package init(key: Key, userID: String, name: String, value: ArraySlice<UInt8>, isTest: Bool) {
        self.key = key
        self.userID = userID
        self.name = name
        self.value = value
        self.isTest = isTest
    }
}
