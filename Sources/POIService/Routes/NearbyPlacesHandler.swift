import HTTPServer
import PointsOfInterestAPI

/// `GET /locations`: the places around a centre or in a box, nearest first, a page at a time.
struct NearbyPlacesHandler: HTTPHandler {
    let store: any PlaceStore
    let cachePolicy: CachePolicy
    let ignoredParameters: [ParameterPattern]
    let loggedCoordinates: LoggedCoordinates

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        let form = try PlacesForm(acceptedBy: request)
        let query = try await decode((request.query ?? "").utf8)
        loggedCoordinates.note(query.center, query.box, in: context)
        let fields = query.center == nil ? cachePolicy.shared : cachePolicy.personal
        let answers = DatasetAnswers(
            store: store,
            representation: RepresentationHash(
                path: EndpointPath.locations, query: query.encode(), mediaType: form.mediaType),
            fields: (form.fields(fields), fields.notModified))
        return try await answers.answer(request) {
            let page = try await store.places(for: query)
            return DatasetAnswers.Fetched(
                datasetID: page.datasetID, databaseDuration: page.databaseDuration,
                link: page.next.map(query.nextPageLink)
            ) {
                try form.list(page.places)
            }
        }
    }

    /// Refuses a category only if there never was one of its name: a new one may not have come round to here.
    private func decode(_ query: String.UTF8View) async throws -> NearbyPlacesRequest {
        do throws(ParameterError) {
            let vocabulary = store.vocabulary
            let request = try NearbyPlacesRequest.decode(
                query: query, ignoring: ignoredParameters, vocabulary: vocabulary)
            if vocabulary != nil || request.categories.isEmpty { return request }
        } catch {
            guard error.faults.contains(where: { $0.code == .unknownCategory }) else { throw error }
        }
        return try NearbyPlacesRequest.decode(
            query: query, ignoring: ignoredParameters, vocabulary: try await store.currentVocabulary())
    }
}

extension NearbyPlacesRequest {
    /// The `Link` to the page that begins at a position: a query-only reference (RFC 3986, section 4.2), which
    /// is right behind any prefix or proxy.
    fileprivate func nextPageLink(at position: PagePosition) -> String {
        var next = self
        next.cursor = PageCursor(position, in: self)
        return "<?\(next.encode().percentEncodedQuery)>; rel=\"next\""
    }
}
