#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An event with its user and its time.
public struct TrackedEvent: Hashable, Sendable {
    /// The event's own id, made by the app. Because of it, an event that is sent twice is counted once.
    ///
    /// Nil in events of clients that make no ids. The service then derives an id from the content, so that such an
    /// event is counted once when it is sent again. Two equal events of one moment then count as one.
    public let id: UUID?
    /// The user's id: 1 to 200 bytes of UTF-8.
    public let userID: String
    /// When it happened by the phone's clock, in seconds since 1970.
    public let time: Double
    /// What happened.
    public let event: TrackingEvent
    /// Whether a test sent it. Such events are left out of exports.
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

extension TrackedEvent: Decodable {
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
            event: TrackingEvent(try container.decode(EventContent.self, forKey: .event)),
            isTest: try container.decodeIfPresent(Bool.self, forKey: .test) ?? false)
    }
}

/// An event that can be tracked. The types that `generate-events` makes from definitions conform to it.
///
/// Only the content is sent, so a team's own enum is tracked like `TrackingEvent`.
public protocol TrackableEvent: Hashable, Sendable {
    /// Reads an event with any name. It keeps an event that the type doesn't know, or whose values it can't hold.
    init(_ content: EventContent)

    /// The name and the values, as they are sent.
    var content: EventContent { get }
}

/// An event as it is sent: a name and values.
public struct EventContent: Hashable, Sendable {
    /// What happened, in kebab case: `page-view`.
    public var name: String
    /// The event's values by their names; empty where it has none.
    public var value: [String: JSONValue]

    /// Makes an event's content.
    public init(name: String, value: [String: JSONValue] = [:]) {
        self.name = name
        self.value = value
    }

    /// Makes an event's content without the values that are nil. Generated code calls this.
    public init(name: String, present value: [String: JSONValue?]) {
        self.init(name: name, value: value.compactMapValues { $0 })
    }
}

extension EventContent: Decodable {
    private enum CodingKeys: String, CodingKey {
        case name, value
    }

    /// Decodes `{"name": …, "value": {…}}`. Without a value, the event has no values.
    ///
    /// - Throws: `DecodingError` if there is no name, or a value that is not an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try container.decode(String.self, forKey: .name),
            value: try container.decodeIfPresent([String: JSONValue].self, forKey: .value) ?? [:])
    }
}

extension TrackedEvent {
    /// The event as JSON on one line: an item of a batch. A time that is not finite is `null`, which the service
    /// refuses.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.value(self)
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes an event as an item of `POST /events`.
    package mutating func value(_ event: TrackedEvent) {
        beginObject()
        member("id", event.id?.uuidString)
        member("user_id", event.userID)
        name("time")
        value(decimal: event.time)
        name("event")
        value(event.event.content)
        if event.isTest { member("test", true) }
        endObject()
    }

    /// Writes an event's name and value, see `EventContent`.
    package mutating func value(_ content: EventContent) {
        beginObject()
        member("name", content.name)
        if !content.value.isEmpty {
            name("value")
            value(.object(JSONValue.Object(content.value)))
        }
        endObject()
    }
}
