/// `POST /events`: a batch of events, a JSON array.
public struct EventsRequest: Hashable, Sendable {
    /// The events, at most `EventLimits.events`, in the order in which they happened.
    public var events: [TrackedEvent]

    /// Makes a request.
    public init(events: [TrackedEvent]) {
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
public enum EventLimits {
    /// Events in a batch.
    public static let events = 1000
    /// Bytes of a batch, once it is decompressed.
    public static let bodyBytes = 1 << 20
    /// Bytes of a user's id.
    public static let userIDBytes = 200
    /// Bytes of an event's name.
    public static let nameBytes = 100
    /// Bytes of an event's value, as JSON.
    public static let valueBytes = 8192
    /// Members of an object within a value.
    public static let members = 64
    /// Levels of a value: an object of texts has one.
    public static let levels = 8
    /// The times that PostgreSQL's timestamps can hold, in seconds since 1970. A phone's clock may be wrong by
    /// thousands of years.
    public static let times: ClosedRange<Double> = -2e11...9e12
    /// The maximum number of faults that are reported of one event.
    package static let faults = 3
    /// The maximum number of events of a batch whose faults are reported.
    package static let faultyEvents = 100
}
