import HTTPServer
import PointsOfInterestAPI

/// `GET /locations/{id}`: one place, with its distance where a centre is given.
struct PlaceHandler: HTTPHandler {
    let store: any PlaceStore
    let cachePolicy: CachePolicy
    let ignoredParameters: [ParameterPattern]
    let loggedCoordinates: LoggedCoordinates

    private static let notFound = HTTPError(.notFound, .notFound, "There is no place with this id.")

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        let form = try PlacesForm(acceptedBy: request)
        let decoded = try PlaceRequest.decode(
            id: context.pathParameter("id") ?? "", query: (request.query ?? "").utf8,
            ignoring: ignoredParameters)
        guard let query = decoded else { throw Self.notFound }
        loggedCoordinates.note(query.center, in: context)
        let fields = query.center == nil ? cachePolicy.shared : cachePolicy.personal
        let answers = DatasetAnswers(
            store: store,
            representation: RepresentationHash(
                path: query.path, query: query.encode(), mediaType: form.mediaType),
            fields: (form.fields(fields), fields.notModified), exists: false)
        return try await answers.answer(request) {
            let page = try await store.place(for: query)
            guard page.places.count > 0 else { throw Self.notFound }
            return DatasetAnswers.Fetched(
                datasetID: page.datasetID, databaseDuration: page.databaseDuration
            ) {
                try form.single(page.places)
            }
        }
    }
}
