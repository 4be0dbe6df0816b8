/// An event that can be tracked: what `generate-events` makes of a folder of definitions conforms.
///
/// It is no more than its content in types. The content decides what is sent, so an enum of a team's own travels
/// the same way as `TrackingEvent`.
public protocol TrackableEvent: Hashable, Sendable, Codable {
    /// Reads an event of any name; one that the type doesn't know, or whose values it can't hold, is kept as it is.
    init(_ content: EventContent)

    /// The name and the values, as they are sent.
    var content: EventContent { get }
}

extension TrackableEvent {
    /// Decodes an event from its name and value, see `EventContent`.
    public init(from decoder: any Decoder) throws {
        self.init(try EventContent(from: decoder))
    }

    /// Encodes the event's name and value, see `EventContent`.
    public func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
    }
}
