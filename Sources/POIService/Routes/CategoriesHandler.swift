import HTTPServer
import PointsOfInterestAPI

/// `GET /categories`: every category with its number of places, most frequent first.
struct CategoriesHandler: HTTPHandler {
    let store: any PlaceStore
    let cachePolicy: CachePolicy
    let ignoredParameters: [ParameterPattern]

    private static let offer = MediaTypeOffer([MediaType.json])

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        guard Self.offer.choice(for: request.headers) != nil else {
            throw HTTPError.notAcceptable("Categories come as \(MediaType.json).")
        }
        _ = try CategoriesRequest.decode(query: (request.query ?? "").utf8, ignoring: ignoredParameters)
        let answers = DatasetAnswers(
            store: store,
            representation: RepresentationHash(
                path: EndpointPath.categories, query: [], mediaType: MediaType.json),
            fields: (cachePolicy.shared.json, cachePolicy.shared.notModified))
        return try await answers.answer(request) {
            let counts = try await store.categories()
            return DatasetAnswers.Fetched(
                datasetID: counts.datasetID, databaseDuration: counts.databaseDuration
            ) {
                counts.categories.json
            }
        }
    }
}
