import Locking
import EventLoop
import PointsOfInterestAPI

/// Events in memory, for as long as the process runs: for the mock server and for tests.
///
/// Any thread, so that loops can share one. It is bounded: past so many events, those that came first are
/// forgotten.
public final class MemoryEventStore: EventStore, Sendable {
    private struct State {
        var keys: Set<StoredEvent.Key> = []
        var events: [StoredEvent] = []
    }

    private let state = Lock(State())
    private let limit: Int

    /// Makes an empty store.
    ///
    /// - Parameter limit: the most events that it keeps, at least 1.
    public init(limit: Int = 100_000) {
        self.limit = max(1, limit)
    }

    /// The events, in the order in which they came.
    public var events: [StoredEvent] { state.withLock { $0.events } }

    /// Keeps what is new.
    public func store(_ events: [StoredEvent]) async throws(EventStoreError) -> EventsResponse {
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

    /// There is nothing to let go of.
    public func close() async {}
}
