import Foundation
import PointsOfInterestClient

/// Places that the target is known to have, and settings that it is known to run with: a CSV file (RFC 4180) in UTF-8.
///
///     # POI_CACHE_PUBLIC_MAX_AGE=300
///     name,latitude,longitude,category,featured,address,website,importance,properties,dataset,id,license,credit,url,places
///     "Café ""Zur Post""",48.2,16.37,cafe,false,,,20,"{""rooms"": 4}",osm,node/1,ODbL-1.0,© OpenStreetMap contributors,,1072
///
/// The first three columns have to be there, the others may be, in any order; `properties` are a JSON object, `id` is the
/// source's, `places` how many places its dataset has. An empty cell says nothing.
struct ExpectedPlaces: Hashable, Sendable {
    static let maximumCount = 20

    var places: [ExpectedPlace] = []
    /// What it says of the service's settings.
    var settings = ServiceSettings()
}

/// A place that the target is known to have. A member that is nil isn't known.
struct ExpectedPlace: Hashable, Sendable {
    /// The line of the file that it begins in.
    var line: Int
    var name: String
    var latitude: Double
    var longitude: Double
    var category: String?
    var featured: Bool?
    var address: String?
    var website: String?
    var importance: Int?
    var properties: JSONValue.Object?
    var dataset: String?
    /// Its id in the dataset.
    var id: String?
    var license: String?
    /// What the dataset's attribution says.
    var credit: String?
    var url: String?
    var datasetPlaces: Int?
}

/// What is wrong with a file of expected places.
enum ExpectedPlacesError: Error, Hashable, CustomStringConvertible {
    case unreadable
    case notUTF8
    case malformedSetting(line: Int)
    case unknownSetting(line: Int, name: String)
    case repeatedSetting(line: Int, name: String)
    case unusableSetting(line: Int, name: String)
    case noHeader
    case unknownColumn(line: Int, name: String)
    case repeatedColumn(line: Int, name: String)
    case missingColumn(line: Int, name: String)
    case wrongCellCount(line: Int, count: Int, expected: Int)
    case misplacedQuote(line: Int)
    case unusableCell(line: Int, column: String, rule: String)
    case noPlaces
    case tooManyPlaces(line: Int)

    /// One line without the file's contents, but for names.
    var description: String {
        switch self {
        case .unreadable: "the file can't be read"
        case .notUTF8: "the file isn't UTF-8"
        case .malformedSetting(let line): "line \(line): a line with # has to be # NAME=VALUE"
        case .unknownSetting(let line, let name): "line \(line): the setting \(name) isn't known"
        case .repeatedSetting(let line, let name): "line \(line): the setting \(name) is there twice"
        case .unusableSetting(let line, let name): "line \(line): the setting \(name) has an unusable value"
        case .noHeader: "there is no header"
        case .unknownColumn(let line, let name): "line \(line): the column \(name) isn't known"
        case .repeatedColumn(let line, let name): "line \(line): the column \(name) is there twice"
        case .missingColumn(let line, let name): "line \(line): the column \(name) is missing"
        case .wrongCellCount(let line, let count, let expected):
            "line \(line): \(count) cells instead of \(expected)"
        case .misplacedQuote(let line): "line \(line): a quotation mark that RFC 4180 doesn't allow"
        case .unusableCell(let line, let column, let rule): "line \(line), column \(column): \(rule)"
        case .noPlaces: "there are no places"
        case .tooManyPlaces(let line): "line \(line): more than \(ExpectedPlaces.maximumCount) places"
        }
    }
}

extension ExpectedPlaces {
    /// What the file that `POI_CONTRACT_EXPECT` names says; nil without that variable. Where the file can't be used, this
    /// process ends with one line and exit code 64.
    static let current: ExpectedPlaces? = {
        guard let path = ProcessInfo.processInfo.environment["POI_CONTRACT_EXPECT"], !path.isEmpty else {
            return nil
        }
        do {
            return try ExpectedPlaces(path: path)
        } catch {
            FileHandle.standardError.write(Data("contract tests: POI_CONTRACT_EXPECT: \(error)\n".utf8))
            exit(64)
        }
    }()

    init(path: String) throws(ExpectedPlacesError) {
        guard let data = FileManager.default.contents(atPath: path) else { throw .unreadable }
        try self.init(csv: data)
    }
}

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
        let language: String?
        let category: String
        let featured: Bool
        let distance: Double?
        let address: String?
        let website: String?
        let source: PointOfInterest.Source?
        let importance: Int?
        let properties: JSONValue.Object?
        let matchedName: String?
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
            address: properties.address, website: properties.website, source: properties.source,
            importance: properties.importance ?? 0, properties: properties.properties,
            language: properties.language, matchedName: properties.matchedName)
    }
}

extension Service {
    /// One place, asked for as GeoJSON.
    static func geoJSONPlace(id: Int, languages: [String] = []) async throws -> PointOfInterest? {
        let query = languages.isEmpty ? "" : "?lang=" + languages.joined(separator: ",")
        let body = try await geoJSON("/locations/\(id)" + query)
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
