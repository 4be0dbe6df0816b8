#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An event with what all events have: whose it is, and when it happened.
public struct TrackedEvent: Hashable, Sendable {
    /// The event's own id, made by the app, which makes sending it twice harmless.
    ///
    /// Nil in events of clients that make none: the service then derives one from the content, so that such an
    /// event, sent again as it was, is still counted once. Two equal events of the same moment are one then.
    public let id: UUID?
    /// Who did it: 1 to 200 bytes of UTF-8.
    public let userID: String
    /// When it happened by the phone's clock, in seconds since 1970.
    public let time: Double
    /// What happened.
    public let event: TrackingEvent
    /// Whether a test sent it; such an event is left out of what is reported.
    public let isTest: Bool

    /// Makes an event.
    public init(
        id: UUID? = UUID(), userID: String, time: Double, event: TrackingEvent, isTest: Bool = false
    ) {
        self.id = id
        self.userID = userID
        self.time = time
        self.event = event
        self.isTest = isTest
    }

    /// The same event with an id of its own.
    package func identified() -> TrackedEvent {
        TrackedEvent(userID: userID, time: time, event: event, isTest: isTest)
    }
}

extension TrackedEvent: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, time, event, test
        case userID = "user_id"
    }

    /// Decodes an event; one whose name is not known is kept as it is.
    ///
    /// - Throws: `DecodingError` if a member is missing or malformed; only `id` and `test` may be absent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decodeIfPresent(UUID.self, forKey: .id),
            userID: try container.decode(String.self, forKey: .userID),
            time: try container.decode(Double.self, forKey: .time),
            event: try container.decode(TrackingEvent.self, forKey: .event),
            isTest: try container.decodeIfPresent(Bool.self, forKey: .test) ?? false)
    }

    /// Encodes the event; `id` and `test` are left out where there is none.
    ///
    /// - Throws: `EncodingError` for a time that is not finite.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(id, forKey: .id)
        try container.encode(userID, forKey: .userID)
        try container.encode(time, forKey: .time)
        try container.encode(event, forKey: .event)
        if isTest { try container.encode(true, forKey: .test) }
    }
}
