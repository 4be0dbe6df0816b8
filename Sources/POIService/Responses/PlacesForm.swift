import HTTPServer
import PointsOfInterestAPI

/// How places are written: as the contract's JSON, or as GeoJSON (RFC 7946).
enum PlacesForm: Int {
    case json
    case geoJSON

    private static let offer = MediaTypeOffer([MediaType.json, MediaType.geoJSON])

    /// The form that a request accepts best.
    ///
    /// - Throws: 406 where it accepts neither.
    init(acceptedBy request: HTTPRequest) throws(HTTPError) {
        guard let form = Self.offer.choice(for: request.headers).flatMap(Self.init(rawValue:)) else {
            throw .notAcceptable("Places come as \(MediaType.json) or \(MediaType.geoJSON).")
        }
        self = form
    }

    var mediaType: String {
        switch self {
        case .json: MediaType.json
        case .geoJSON: MediaType.geoJSON
        }
    }

    func fields(_ fields: ResponseFields) -> HTTPHeaders {
        switch self {
        case .json: fields.json
        case .geoJSON: fields.geoJSON
        }
    }

    /// The body of a response with all of these places.
    ///
    /// - Throws: `failed` where a stored place can't be read.
    func list(_ places: any PlaceSource) throws(PlaceStoreError) -> [UInt8] {
        var writer = JSONWriter(capacity: 64 + 448 * places.count)
        switch self {
        case .json:
            writer.beginArray()
            for index in 0..<places.count { try places.withFields(at: index) { writer.value($0) } }
            writer.endArray()
        case .geoJSON:
            writer.beginObject()
            writer.member("type", "FeatureCollection")
            writer.name("features")
            writer.beginArray()
            for index in 0..<places.count { try places.withFields(at: index) { writer.feature($0) } }
            writer.endArray()
            writer.endObject()
        }
        return writer.bytes
    }

    /// The body of a response with the first of these places; there must be one.
    ///
    /// - Throws: `failed` where the stored place can't be read.
    func single(_ places: any PlaceSource) throws(PlaceStoreError) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        try places.withFields(at: 0) { place in
            switch self {
            case .json: writer.value(place)
            case .geoJSON: writer.feature(place)
            }
        }
        return writer.bytes
    }
}
