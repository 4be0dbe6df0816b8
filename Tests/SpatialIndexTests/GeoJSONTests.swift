import PointsOfInterestAPI
import Foundation
import Testing

/// A feature as RFC 7946 has it, read by Foundation alone.
private struct Feature: Decodable, Equatable {
    struct Geometry: Decodable, Equatable {
        let type: String
        let coordinates: [Double]
    }

    struct Properties: Decodable, Equatable {
        let name: String
        let category: String
        let featured: Bool
        let distance: Double?
        let address: String?
        let website: String?
        let source: PointOfInterest.Source?
    }

    let type: String
    let id: Int
    let geometry: Geometry
    let properties: Properties
}

@Suite("A place as a feature")
struct GeoJSONTests {
    private static let full = PointOfInterest(
        id: 7, name: "Café \"Stritch\"\n", category: "cafe", latitude: 37.3293, longitude: -121.8893,
        featured: true,
        distance: 12.34, address: "374 S 1st St", website: "https://example.org/?a=b&c=\\",
        source: .init(dataset: "seed", id: "n1", license: "CC0-1.0"))
    private static let bare = PointOfInterest(id: 8, name: "", category: "b", latitude: -90, longitude: 180)

    private func written(_ place: PointOfInterest) -> Data {
        var writer = JSONWriter()
        place.write(as: .geoJSON, to: &writer)
        return Data(writer.bytes)
    }

    @Test(
        "A feature has its position as longitude, then latitude, and all the rest as properties",
        arguments: [full, bare])
    func isAFeature(place: PointOfInterest) throws {
        let feature = try JSONDecoder().decode(Feature.self, from: written(place))
        #expect(
            feature
                == Feature(
                    type: "Feature", id: place.id,
                    geometry: .init(type: "Point", coordinates: [place.longitude, place.latitude]),
                    properties: .init(
                        name: place.name, category: place.category, featured: place.featured,
                        distance: place.distance, address: place.address, website: place.website,
                        source: place.source)))
    }
}
