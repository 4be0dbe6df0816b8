import HTTPServer
import Places
import PointsOfInterestAPI

extension PlacesForm {
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

    func fields(_ fields: ResponseFields) -> PreparedFields {
        switch self {
        case .json: fields.json
        case .geoJSON: fields.geoJSON
        }
    }
}
