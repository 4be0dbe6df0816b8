#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `POST /events`: a batch of events, a JSON array.
package struct EventsRequest: Hashable, Sendable {
    /// The events, at most `EventLimits.events`, in the order in which they happened.
    package var events: [TrackedEvent]

    /// Makes a request.
    package init(events: [TrackedEvent]) {
        self.events = events
    }

    /// The body.
    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 16 + 256 * events.count)
        writer.beginArray()
        for event in events { writer.value(event) }
        writer.endArray()
        return writer.bytes
    }
}

/// The response to `POST /events`. It is sent when every event of the batch is stored.
public struct EventsResponse: Hashable, Sendable, Codable {
    /// How many events were new.
    public let accepted: Int
    /// How many were stored before, or were in the batch more than once.
    public let duplicates: Int

    /// Makes a response.
    public init(accepted: Int, duplicates: Int) {
        self.accepted = accepted
        self.duplicates = duplicates
    }

    /// The body of the response.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.member("accepted", accepted)
        writer.member("duplicates", duplicates)
        writer.endObject()
        return writer.bytes
    }
}

/// A fault of one event of a batch. The whole batch is refused.
public struct EventFault: Hashable, Sendable, Codable {
    /// What is wrong, for programs.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        /// The code as it is sent, in kebab case.
        public let rawValue: String

        /// Makes a code of any text, known or not.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The item of the batch is not an object.
        public static let notAnEvent = Code(rawValue: "not-an-event")
        /// A required member or parameter is missing.
        public static let missing = Code(rawValue: "missing")
        /// The event's definition doesn't have this parameter, and allows no others.
        public static let unknown = Code(rawValue: "unknown")
        /// The member is given twice.
        public static let repeated = Code(rawValue: "repeated")
        /// The member has the wrong type.
        public static let wrongType = Code(rawValue: "wrong-type")
        /// The number is less or greater, or the text shorter or longer, than it may be.
        public static let outOfRange = Code(rawValue: "out-of-range")
        /// The text isn't one of the parameter's values.
        public static let notAChoice = Code(rawValue: "not-a-choice")
        /// The text is not a UUID.
        public static let notAUUID = Code(rawValue: "not-a-uuid")
        /// The text is not UTF-8, or has a NUL, a control character that isn't escaped or half a surrogate pair.
        public static let malformedText = Code(rawValue: "malformed-text")
        /// The value has more bytes, more members or more levels than it may.
        public static let tooLarge = Code(rawValue: "too-large")
        /// The member can't be edited, and isn't as it is in the record. Only in `MemberFault`, as those that follow.
        public static let readOnlyMember = Code(rawValue: "read-only-member")
        /// The text isn't a single line, an address of a web page, a language's tag or whatever it has to be.
        public static let malformed = Code(rawValue: "malformed")
    }

    /// Which event of the batch, from 0.
    public let index: Int
    /// What is wrong, for programs.
    public let code: Code
    /// What is wrong, for people. It never contains what was sent.
    public let detail: String
    /// The name of the member or parameter, if it is a known one: `user_id`, `page`.
    public let parameter: String?

    /// Makes a fault.
    public init(index: Int, code: Code, detail: String, parameter: String? = nil) {
        self.index = index
        self.code = code
        self.detail = detail
        self.parameter = parameter
    }
}

/// The maximum sizes of events. A request within these limits is never refused for its size, unless gzip has compressed
/// it to less than a hundredth.
package enum EventLimits {
    /// Events in a batch.
    package static let events = 1000
    /// Bytes of a batch, once it is decompressed.
    package static let bodyBytes = 1 << 20
    /// Bytes of a user's id.
    package static let userIDBytes = 200
    /// Bytes of an event's name.
    package static let nameBytes = 100
    /// Bytes of an event's value, as JSON.
    package static let valueBytes = 8192
    /// Members of an object within a value.
    package static let members = 64
    /// Levels of a value: an object of texts has one.
    package static let levels = 8
    /// The times that PostgreSQL's timestamps can hold, in seconds since 1970. A phone's clock may be wrong by
    /// thousands of years.
    package static let times: ClosedRange<Double> = -2e11...9e12
    /// The maximum number of faults that are reported of one event.
    package static let faults = 3
    /// The maximum number of events of a batch whose faults are reported.
    package static let faultyEvents = 100
}

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
