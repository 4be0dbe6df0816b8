import Foundation
import PointsOfInterestClient

/// Places as GeoJSON (RFC 7946) has them.
struct GeoJSONPlaces: Decodable {
    let type: String
    let features: [GeoJSONPlace]
}

/// A place as a feature.
struct GeoJSONPlace: Decodable {
    struct Geometry: Decodable {
        let type: String
        let coordinates: [Double]
    }

    struct Properties: Decodable {
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

    /// The place that JSON would have; nil where the feature isn't a point.
    var place: PointOfInterest? {
        guard type == "Feature", geometry.type == "Point", geometry.coordinates.count == 2 else { return nil }
        return PointOfInterest(
            id: id, name: properties.name, category: properties.category, latitude: geometry.coordinates[1],
            longitude: geometry.coordinates[0], featured: properties.featured, distance: properties.distance,
            address: properties.address, website: properties.website, source: properties.source)
    }
}

extension Service {
    /// One place, asked for as GeoJSON.
    static func geoJSONPlace(id: Int) async throws -> PointOfInterest? {
        let body = try await geoJSON("/locations/\(id)")
        return try JSONDecoder().decode(GeoJSONPlace.self, from: body).place
    }

    /// A page of places, asked for as GeoJSON.
    static func geoJSONPlaces(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest?] {
        let body = try await geoJSON("/locations?" + request.encodedQuery)
        let collection = try JSONDecoder().decode(GeoJSONPlaces.self, from: body)
        return collection.type == "FeatureCollection" ? collection.features.map(\.place) : []
    }

    private static func geoJSON(_ target: String) async throws -> Data {
        let response = try await response(to: target, headers: ["Accept": "application/geo+json"])
        guard response.status == 200 else { throw RequestError.unexpectedStatus(response.status) }
        return response.body
    }
}
