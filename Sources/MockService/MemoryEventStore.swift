import Locking
import Places
import PointsOfInterestAPI

/// A store of events in memory, for the mock server and for tests.
///
/// It may be used on any thread, so that loops can share one. Its size is bounded: when it is full, the oldest events are
/// forgotten.
package final class MemoryEventStore: EventStore, Sendable {
    private struct State {
        var keys: Set<StoredEvent.Key> = []
        var events: [StoredEvent] = []
    }

    private let state = Lock(State())
    private let limit: Int

    /// Makes an empty store.
    ///
    /// - Parameter limit: the maximum number of events that it keeps, at least 1.
    package init(limit: Int = 100_000) {
        self.limit = max(1, limit)
    }

    /// The events, in the order in which they came.
    package var events: [StoredEvent] { state.withLock { $0.events } }

    /// Keeps the events that aren't there yet, and counts the others. Never throws.
    package func store(_ events: [StoredEvent]) async throws(EventStoreError) -> EventsResponse {
        state.withLock { state in
            let new = events.filter { state.keys.insert($0.key).inserted }
            state.events += new
            let surplus = state.events.count - limit
            if surplus > 0 {
                for event in state.events.prefix(surplus) { state.keys.remove(event.key) }
                state.events.removeFirst(surplus)
            }
            return EventsResponse(accepted: new.count, duplicates: events.count - new.count)
        }
    }

    /// Does nothing: there is nothing to close.
    package func close() async {}
}
