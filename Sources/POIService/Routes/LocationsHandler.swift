import HTTPServer
import PointsOfInterestAPI

/// `GET /locations`: the places around a centre or in a box, nearest first.
struct LocationsHandler: HTTPHandler {
    let store: any LocationStore
    let ignoredParameters: [ParameterPattern]

    private static let headers: HTTPHeaders = [.contentType: MediaType.json]

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        let query = try LocationsRequest.decode(
            query: (request.query ?? "").utf8, ignoring: ignoredParameters, vocabulary: store.vocabulary)
        let page = try await store.locations(for: query)
        return HTTPResponse(.ok, headers: Self.headers, body: try page.places.json())
    }
}

extension PlaceSource {
    /// The places as a JSON array.
    func json() throws(LocationStoreError) -> [UInt8] {
        var writer = JSONWriter(capacity: 16 + 384 * count)
        writer.beginArray()
        for index in 0..<count { try withFields(at: index) { writer.value($0) } }
        writer.endArray()
        return writer.bytes
    }
}
