/// `POST /events`: a batch of events, a JSON array.
public struct EventsRequest: Hashable, Sendable {
    /// The events, at most `EventLimits.events`, in the order in which they happened.
    public var events: [TrackedEvent]

    /// Makes a request.
    public init(events: [TrackedEvent]) {
        self.events = events
    }

    /// The path, below any prefix.
    public var path: String { EndpointPath.events }

    /// The body.
    public func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 16 + 256 * events.count)
        writer.beginArray()
        for event in events { writer.value(event) }
        writer.endArray()
        return writer.bytes
    }

    /// Reads and checks a body, in one pass over its bytes: all of it is good, or none of it is taken.
    ///
    /// An event is checked against its definition in the catalog. One whose name is not there comes from a newer
    /// app: its envelope is checked and its value kept as it is. Members of an event that aren't known are ignored.
    ///
    /// - Throws: what is wrong, with every event that is at fault.
    public static func decode(
        body: [UInt8], catalog: EventCatalog = .builtIn
    ) throws(EventsError) -> [ReceivedEvent] {
        var decoder = EventsDecoder(body: body, catalog: catalog)
        return try decoder.decode()
    }
}
