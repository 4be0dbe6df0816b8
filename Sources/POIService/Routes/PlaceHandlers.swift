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
        let responder = DatasetResponder(
            request,
            RepresentationHash(
                path: EndpointPath.locations, query: query.encode(), mediaType: form.mediaType),
            fields: (form.fields(fields), fields.notModified))
        if let response = responder.notModified(by: store) { return response }
        let page = try await store.places(for: query)
        return try responder.respond(
            from: page.datasetID, after: page.databaseDuration,
            link: page.next.map(query.nextPageLink)
        ) {
            try form.list(page.places)
        }
    }

    /// Decodes with the categories that are known, and refuses an unknown one only after reading the categories again: it
    /// may be new.
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
    /// The `Link` to the page that begins at a position: a reference of a query alone (RFC 3986, section 4.2), which is
    /// right behind any prefix or proxy.
    fileprivate func nextPageLink(at position: PagePosition) -> String {
        var next = self
        next.cursor = PageCursor(position, in: self)
        return "<?\(next.encode().percentEncodedQuery)>; rel=\"next\""
    }
}

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
        let responder = DatasetResponder(
            request,
            RepresentationHash(
                path: query.path, query: query.encode(), mediaType: form.mediaType),
            fields: (form.fields(fields), fields.notModified))
        if let response = responder.notModified(by: store, exists: false) { return response }
        let page = try await store.place(for: query)
        guard page.places.count > 0 else { throw Self.notFound }
        return try responder.respond(
            from: page.datasetID, after: page.databaseDuration
        ) {
            try form.single(page.places)
        }
    }
}

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
        try NoParameter.refuseAll(of: (request.query ?? "").utf8, ignoring: ignoredParameters)
        let responder = DatasetResponder(
            request,
            RepresentationHash(
                path: EndpointPath.categories, query: [], mediaType: MediaType.json),
            fields: (cachePolicy.shared.json, cachePolicy.shared.notModified))
        if let response = responder.notModified(by: store) { return response }
        let counts = try await store.categories()
        return try responder.respond(
            from: counts.datasetID, after: counts.databaseDuration
        ) {
            counts.categories.json
        }
    }
}
