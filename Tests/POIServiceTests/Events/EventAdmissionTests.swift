import Foundation
import Hashing
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Places

@Suite("Events before they are stored")
struct EventAdmissionTests {
    private static let key = [UInt8]("0123456789abcdef0123456789abcdef".utf8)

    private static func event(
        id: UUID? = nil, userID: String = "user", time: Double = 1.5, name: String = "launch",
        value: String = ""
    ) -> ReceivedEvent {
        ReceivedEvent(id: id, userID: userID, time: time, name: name, value: ArraySlice(value.utf8))
    }

    private static func stored(_ event: ReceivedEvent, key: [UInt8]? = nil) throws -> StoredEvent {
        try #require(EventAdmission(userIDHash: key.map { HMAC(key: $0) }).admit([event]).first)
    }

    @Test("Users' ids stay as they are if there is no key")
    func plain() throws {
        #expect(try Self.stored(Self.event(userID: "F3476B52")).userID == "F3476B52")
    }

    @Test("A user's id becomes its HMAC-SHA-256 if there is a key, the same for each event")
    func hashed() throws {
        let events = ["a", "a", "b", "a", ""].map { Self.event(userID: $0) }
        let stored = EventAdmission(userIDHash: HMAC(key: Self.key)).admit(events).map(\.userID)
        // printf a | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
        #expect(stored[0] == Self.hashOfA)
        #expect(stored[1] == stored[0] && stored[3] == stored[0])
        #expect(Set(stored).count == 3)
        #expect(stored.allSatisfy { $0.utf8.count == 64 })
    }

    private static let hashOfA = "aa2187723645a252148bbf3aad0e20d4c3a2861235bb65a264967af9d46faec2"

    @Test(
        "Times are rounded to microseconds, as in PostgreSQL",
        arguments: [
            (1_536_753_250.92, 1_536_753_250_920_000), (0.0000004, 0), (-1.25, -1_250_000),
            (EventLimits.times.upperBound, 9_000_000_000_000_000_000),
        ] as [(Double, Int64)])
    func time(seconds: Double, microseconds: Int64) throws {
        #expect(try Self.stored(Self.event(time: seconds)).key.timeMicroseconds == microseconds)
    }

    @Test("An app's id is kept; events without one get the same id if they are equal, else different ones")
    func derivedIDs() throws {
        let id = UUID()
        #expect(try Self.stored(Self.event(id: id)).key.id == id)
        let event = Self.event(userID: "ab", name: "page-view", value: #"{"page":"x"}"#)
        let derived = try Self.stored(event).key.id
        #expect(try Self.stored(event).key.id == derived)
        let others = [
            Self.event(userID: "a", name: "page-view", value: #"{"page":"x"}"#),
            Self.event(userID: "abp", name: "age-view", value: #"{"page":"x"}"#),
            Self.event(userID: "ab", time: 1.500001, name: "page-view", value: #"{"page":"x"}"#),
            Self.event(userID: "ab", name: "page-view", value: #"{"page":"y"}"#),
            Self.event(userID: "ab", name: "page-view"),
        ]
        let ids = try others.map { try Self.stored($0).key.id }
        #expect(Set(ids + [derived]).count == others.count + 1)
        // Version 8, variant 10 (RFC 9562).
        #expect(derived.uuid.6 >> 4 == 8)
        #expect(derived.uuid.8 >> 6 == 2)
    }

    @Test("An id that is derived with a key can't be computed without the key")
    func hiddenIDs() throws {
        let event = Self.event(userID: "user")
        let ids = try [nil, Self.key, Self.key.reversed()].map { try Self.stored(event, key: $0).key.id }
        #expect(Set(ids).count == 3)
    }
}
