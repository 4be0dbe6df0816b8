import MockServerAPI
import PointsOfInterestAPI

/// An item of a document of fixtures.
struct FixturePlace {
    let place: PointOfInterest
    /// Where in the document it is.
    let path: String

    private enum Key: String, CodingKey, CaseIterable {
        case id, name, category, latitude, longitude, featured, distance, address, website, source
        // Of GeoJSON.
        case type, geometry, properties, coordinates

        static let ofItem: [Key] = [
            .id, .name, .category, .latitude, .longitude, .featured, .distance, .address, .website, .source,
        ]
        static let ofFeature: [Key] = [.type, .id, .geometry, .properties]
        static let ofGeometry: [Key] = [.type, .coordinates]
        static let ofProperties: [Key] = [
            .name, .category, .featured, .distance, .address, .website, .source,
        ]
    }

    /// Reads an item of `GET /locations`.
    init(item decoder: any Decoder) throws {
        let item = try decoder.strictContainer(of: Key.ofItem)
        self.init(
            try Self.place(
                id: try item.id(forKey: .id), properties: item,
                latitude: try item.degrees(forKey: .latitude, limit: 90),
                longitude: try item.degrees(forKey: .longitude, limit: 180)),
            decoder)
    }

    /// Reads a feature (RFC 7946, section 3.2) whose geometry is a point.
    init(feature decoder: any Decoder) throws {
        let feature = try decoder.strictContainer(of: Key.ofFeature)
        try feature.require("Feature", for: .type)
        let geometry = try feature.superDecoder(forKey: .geometry).strictContainer(of: Key.ofGeometry)
        try geometry.require("Point", for: .type)
        let (longitude, latitude) = try Self.position(geometry)
        self.init(
            try Self.place(
                id: try feature.id(forKey: .id),
                properties: try feature.superDecoder(forKey: .properties)
                    .strictContainer(of: Key.ofProperties),
                latitude: latitude, longitude: longitude),
            decoder)
    }

    /// A position (RFC 7946, section 3.1.1), whose height doesn't matter.
    private static func position(
        _ geometry: KeyedDecodingContainer<Key>
    ) throws -> (longitude: Double, latitude: Double) {
        let numbers = try geometry.decode([Double].self, forKey: .coordinates)
        guard (2...3).contains(numbers.count), abs(numbers[0]) <= 180, abs(numbers[1]) <= 90 else {
            throw geometry.fault(
                .coordinates, "must be a longitude from -180 to 180 and a latitude from -90 to 90 degrees")
        }
        return (numbers[0], numbers[1])
    }

    private init(_ place: PointOfInterest, _ decoder: any Decoder) {
        self.place = place
        path = DocumentFault.path(decoder.codingPath)
    }

    private static func place(
        id: Int, properties: KeyedDecodingContainer<Key>, latitude: Double, longitude: Double
    ) throws -> PointOfInterest {
        _ = try properties.decodeIfPresent(Double.self, forKey: .distance)
        return PointOfInterest(
            id: id, name: try properties.line(forKey: .name, limit: 200),
            category: try properties.category(forKey: .category),
            latitude: latitude, longitude: longitude,
            featured: try properties.decodeIfPresent(Bool.self, forKey: .featured) ?? false,
            address: try properties.decodeIfPresent(String.self, forKey: .address),
            website: try properties.decodeIfPresent(String.self, forKey: .website),
            source: try properties.decodeIfPresent(PointOfInterest.Source.self, forKey: .source))
    }
}
