/// A category and how many places it has: an item of the answer to `GET /categories`.
public struct CategoryCount: Hashable, Sendable, Codable {
    /// The category's name, as `NearbyPlacesRequest.categories` takes it.
    public let name: String
    /// How many places are of this category now.
    public let count: Int

    /// Makes an item.
    public init(name: String, count: Int) {
        self.name = name
        self.count = count
    }
}

extension [CategoryCount] {
    /// The body of an answer to `GET /categories`.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 16 + 64 * count)
        writer.beginArray()
        for category in self {
            writer.beginObject()
            writer.member("name", category.name)
            writer.member("count", category.count)
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes
    }
}
