import Foundation
import MockService
import Places
import PointsOfInterestAPI
import Testing

@Suite("Events in memory")
struct MemoryEventStoreTests {
    private static func event(_ number: Int64) -> StoredEvent {
        StoredEvent(
            key: StoredEvent.Key(id: UUID(), timeMicroseconds: number), userID: "u", name: "launch",
            value: [],
            isTest: false)
    }

    @Test("New events are kept in order, duplicates are counted")
    func storing() async throws {
        let store = MemoryEventStore()
        let events = (0..<5).map { Self.event($0) }
        #expect(try await store.store(events + [events[0]]) == EventsResponse(accepted: 5, duplicates: 1))
        #expect(try await store.store(events) == EventsResponse(accepted: 0, duplicates: 5))
        #expect(store.events == events)
    }

    @Test("The oldest events are forgotten beyond the bound")
    func bound() async throws {
        let store = MemoryEventStore(limit: 3)
        let events = (0..<5).map { Self.event($0) }
        #expect(try await store.store(events) == EventsResponse(accepted: 5, duplicates: 0))
        #expect(store.events == Array(events.suffix(3)))
        #expect(try await store.store(events) == EventsResponse(accepted: 2, duplicates: 3))
    }
}
