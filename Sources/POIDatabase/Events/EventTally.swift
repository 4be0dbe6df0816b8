import Foundation
import POIService
import PointsOfInterestAPI
import Postgres

/// Which of the events that were written together were new, batch by batch.
struct EventTally {
    private struct Key: Hashable {
        let id: PostgresUUID
        let time: PostgresTimestamp
    }

    /// The keys that were new; nil where all were.
    private var newKeys: Set<Key>?

    /// - Parameter rows: the keys that the statement answered.
    init(rows: PostgresRows, eventCount: Int) throws(PostgresError) {
        guard rows.count < eventCount else { return }
        var keys: Set<Key> = []
        for row in rows { keys.insert(Key(id: try row.decode(at: 0), time: try row.decode(at: 1))) }
        newKeys = keys
    }

    /// An answer for each batch, in their order: of an event that is in two, the first has it.
    func answers(_ batches: [[StoredEvent]]) -> [EventsResponse] {
        guard var newKeys else { return batches.map { EventsResponse(accepted: $0.count, duplicates: 0) } }
        return batches.map { events in
            let accepted = events.count { event in
                let key = Key(id: PostgresUUID(event.key.id), time: PostgresTimestamp(event.key))
                return newKeys.remove(key) != nil
            }
            return EventsResponse(accepted: accepted, duplicates: events.count - accepted)
        }
    }
}
