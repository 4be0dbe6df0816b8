import HTTPServer
import PointsOfInterestAPI

/// `GET /locations`: the places around a centre, nearest first.
struct LocationsHandler: HTTPHandler {
    let store: any LocationStore
    let ignoredParameters: [ParameterPattern]

    private static let headers: HTTPHeaders = [.contentType: MediaType.json]

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        let query = try LocationsRequest.decode(
            query: (request.query ?? "").utf8, ignoring: ignoredParameters)
        let places = try await store.locations(for: query)
        return HTTPResponse(.ok, headers: Self.headers, body: places.json)
    }
}
