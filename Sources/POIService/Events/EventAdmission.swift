import Hashing
import PointsOfInterestAPI

/// What happens to events at the door: whose they are may become a keyed hash, and those without an id get one.
struct EventAdmission: Sendable {
    /// Hides who the users are; nil keeps their ids as they are.
    let userIDHash: HMAC?

    private static let emptyObject = ArraySlice("{}".utf8)

    /// Makes events of a batch what a store keeps.
    func admit(_ events: [ReceivedEvent]) -> [StoredEvent] {
        // A phone's batch has one user, or two.
        var last: (userID: String, hidden: String)?
        return events.map { event in
            let userID: String
            // By bytes: a comparison of strings takes the square of a run of combining marks.
            if let last, last.userID.utf8.elementsEqual(event.userID.utf8) {
                userID = last.hidden
            } else {
                userID = hidden(event.userID)
                last = (event.userID, userID)
            }
            return admit(event, userID: userID)
        }
    }

    private func hidden(_ userID: String) -> String {
        userIDHash.map { $0.code(of: userID.utf8).hexadecimal } ?? userID
    }

    private func admit(_ event: ReceivedEvent, userID: String) -> StoredEvent {
        // Within EventLimits.times, whose microseconds an Int64 holds.
        let time = Int64((event.time * 1_000_000).rounded())
        let id = event.id ?? DerivedEventID.id(of: event, userID: userID, timeMicroseconds: time)
        return StoredEvent(
            key: StoredEvent.Key(id: id, timeMicroseconds: time), userID: userID, name: event.name,
            value: event.value.isEmpty ? Self.emptyObject : event.value, isTest: event.isTest)
    }
}
