/// What the service answers to `POST /events`, once every event of the batch is stored for good.
public struct EventsResponse: Hashable, Sendable, Codable {
    /// How many events were new.
    public let accepted: Int
    /// How many were there before, or more than once in the batch.
    public let duplicates: Int

    /// Makes an answer.
    public init(accepted: Int, duplicates: Int) {
        self.accepted = accepted
        self.duplicates = duplicates
    }

    /// The body of the answer.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.member("accepted", accepted)
        writer.member("duplicates", duplicates)
        writer.endObject()
        return writer.bytes
    }
}
