/// A document of fixtures, whose items are read one by one, so that each may have its own fault.
struct FixtureDocument: Decodable {
    let items: [Result<FixturePlace, DecodingError>]

    private enum Key: String, CodingKey {
        case type, features
    }

    init(from decoder: any Decoder) throws {
        guard let collection = try? decoder.container(keyedBy: Key.self) else {
            var array = try decoder.unkeyedContainer()
            items = try Self.items(of: &array) { try FixturePlace(item: $0) }
            return
        }
        try collection.require("FeatureCollection", for: .type)
        var features = try collection.nestedUnkeyedContainer(forKey: .features)
        items = try Self.items(of: &features) { try FixturePlace(feature: $0) }
    }

    private static func items(
        of array: inout any UnkeyedDecodingContainer, read: (any Decoder) throws -> FixturePlace
    ) throws -> [Result<FixturePlace, DecodingError>] {
        var items: [Result<FixturePlace, DecodingError>] = []
        while !array.isAtEnd {
            let decoder = try array.superDecoder()
            do {
                items.append(.success(try read(decoder)))
            } catch let error as DecodingError {
                items.append(.failure(error))
            }
        }
        return items
    }
}
