import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request to the service, and what it answered: one of each endpoint, over the seeded data.
///
/// Each is a file in `RecordedResponses`, named for its case; `scripts/record-responses` writes them anew, and the
/// contract tests tell when they are no longer true.
public enum RecordedResponse: String, CaseIterable, Sendable {
    /// The three places nearest to a centre, with a `Link` to more.
    case locations
    /// The same as GeoJSON.
    case locationsGeoJSON = "locations-geojson"
    /// One place by its id, with its distance.
    case location
    /// The categories.
    case categories
    /// That the process turns.
    case livez
    /// That the process takes requests.
    case readyz
    /// The problem of an id that no place has.
    case locationNotFound = "location-not-found"
    /// The problem of parameters that are wrong.
    case invalidParameters = "invalid-parameters"

    /// The request and the answer.
    ///
    /// - Throws: where the file is missing or malformed, a fault of this package's.
    public func exchange() throws -> RecordedExchange {
        let name = "RecordedResponses/\(rawValue)"
        guard let url = Bundle.module.url(forResource: name, withExtension: "http") else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        return try RecordedExchange(text: String(contentsOf: url, encoding: .utf8))
    }

    /// Answers a request with this recording.
    public func answer(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
        let exchange = try exchange()
        return (
            try .fixture(for: request, status: exchange.status, headers: exchange.responseHeaders),
            exchange.body
        )
    }

    /// Answers a request with the recording of its endpoint: a handler for `MockURLProtocol`.
    ///
    /// The endpoint is told by the path's end; what the query asks for makes no difference. A path of no endpoint
    /// is answered like an id that no place has.
    public static func answer(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
        try recording(for: request).answer(to: request)
    }

    private static func recording(for request: URLRequest) -> RecordedResponse {
        let segments = request.url?.pathComponents ?? []
        let accept = request.value(forHTTPHeaderField: "Accept") ?? MediaType.json
        switch "/" + (segments.last ?? "") {
        case EndpointPath.locations:
            return accept.contains(MediaType.geoJSON) ? .locationsGeoJSON : .locations
        case EndpointPath.categories: return .categories
        case EndpointPath.livez: return .livez
        case EndpointPath.readyz: return .readyz
        default:
            let isLocation = segments.dropLast().last.map { "/" + $0 == EndpointPath.locations } ?? false
            return isLocation ? .location : .locationNotFound
        }
    }
}
