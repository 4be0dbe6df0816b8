import PointsOfInterestServerAPI
import EventLoop
import HTTPServer
import Places
import PointsOfInterestAPI

/// `GET /locations`: the places around a centre or in a box, nearest first, a page at a time; or those with some ids.
struct NearbyPlacesHandler: HTTPHandler {
    let store: any PlaceStore
    let cachePolicy: CachePolicy
    let ignoredParameters: [ParameterPattern]
    let loggedCoordinates: LoggedCoordinates
    let clients: ClientIdentification
    private let representations = PlacesForm.representations(of: EndpointPath.locations)

    func respond(to request: HTTPRequest, context: RequestContext) throws -> NowOrLaterResponse {
        let form = try PlacesForm(acceptedBy: request)
        switch try store.decode(NearbyPlacesRequest.self, from: request, ignoring: ignoredParameters) {
        case .now(let query): return try respond(to: request, query, form, context)
        case .later(let decode):
            return .later { try await respond(to: request, decode(), form, context).value() }
        }
    }

    private func respond(
        to request: HTTPRequest, _ query: NearbyPlacesRequest, _ form: PlacesForm, _ context: RequestContext
    ) throws -> NowOrLaterResponse {
        loggedCoordinates.note(query.center, query.box, in: context)
        var written = WrittenQuery(query)
        let responder = responder(to: request, query, written, form, context)
        if let response = responder.notModified(by: store) { return .now(response) }
        let style = PlaceStyle(form, query.content)
        switch try store.places(for: query, from: clients.client(of: request, context)) {
        case .now(let page):
            return .now(try responder.respond(with: page, by: store, &written, style, in: context))
        case .later(let getPage):
            let written = SharedQuery(written)
            return .later { [store] in
                let page = try await getPage()
                return try responder.respond(with: page, by: store, &written.query, style, in: context)
            }
        }
    }

    private func responder(
        to request: HTTPRequest, _ query: NearbyPlacesRequest, _ written: borrowing WrittenQuery,
        _ form: PlacesForm, _ context: RequestContext
    ) -> DatasetResponder {
        DatasetResponder(
            request, representations[form.rawValue].adding(written.query),
            fields: query.isPersonal ? cachePolicy.personal : cachePolicy.shared, form: form, in: context)
    }
}

extension NearbyPlacesRequest {
    /// Whether it says where somebody is, or what somebody likes or looks for.
    fileprivate var isPersonal: Bool { center != nil || !ids.isEmpty || filter.searchText != nil }
}

/// A written query that a closure keeps, for which it can't be copied.
private final class SharedQuery {
    var query: WrittenQuery

    init(_ query: consuming WrittenQuery) { self.query = query }
}

extension DatasetResponder {
    fileprivate func respond(
        with page: RankedPage, by store: any PlaceStore, _ query: inout WrittenQuery, _ style: PlaceStyle,
        in context: RequestContext
    ) throws -> HTTPResponse {
        var response = try respond(
            from: page.datasetID, after: page.databaseDuration, by: store,
            expectedBytes: page.places.expectedBytes + 64, in: context
        ) { writer in
            try style.write(page.places, to: &writer)
        }
        if let end = page.end, response.status == .ok {
            response.addLink(query.makeNextPageLink(behind: end))
        }
        return consume response
    }
}

/// `GET /locations/{id}`: one place, with its distance where a centre is given.
struct PlaceHandler: HTTPHandler {
    let store: any PlaceStore
    let cachePolicy: CachePolicy
    let ignoredParameters: [ParameterPattern]
    let loggedCoordinates: LoggedCoordinates
    private let representations = PlacesForm.representations(of: EndpointPath.location)

    private static let notFound = HTTPError(.notFound, .notFound, "There is no place with this id.")
    private static let gone = HTTPError(.gone, .gone, "The place with this id was removed.")

    func respond(to request: HTTPRequest, context: RequestContext) throws -> NowOrLaterResponse {
        let (form, query) = try decode(request, context)
        loggedCoordinates.note(query.center, in: context)
        let responder = responder(to: request, query, form, context)
        if let response = responder.notModified(by: store, exists: false) { return .now(response) }
        switch try store.place(for: query) {
        case .now(let page):
            return .now(try respond(to: request, with: page, query, form, responder, context))
        case .later(let getPage):
            return .later {
                try respond(to: request, with: try await getPage(), query, form, responder, context)
            }
        }
    }

    private func decode(
        _ request: HTTPRequest, _ context: RequestContext
    ) throws -> (form: PlacesForm, query: PlaceRequest) {
        let form = try PlacesForm(acceptedBy: request)
        let query = try PlaceRequest.decode(
            id: context.pathParameter("id") ?? "", query: request.queryBytes, ignoring: ignoredParameters)
        guard let query else { throw Self.notFound }
        return (form, query)
    }

    private func responder(
        to request: HTTPRequest, _ query: PlaceRequest, _ form: PlacesForm, _ context: RequestContext
    ) -> DatasetResponder {
        var encoded = QueryWriter()
        query.encode(into: &encoded)
        return DatasetResponder(
            request, representations[form.rawValue].adding(id: query.id).adding(encoded),
            fields: query.center == nil ? cachePolicy.shared : cachePolicy.personal, form: form, in: context)
    }

    private func respond(
        to request: HTTPRequest, with page: RankedPage, _ query: PlaceRequest, _ form: PlacesForm,
        _ responder: DatasetResponder, _ context: RequestContext
    ) throws -> HTTPResponse {
        guard page.places.count > 0 else {
            switch page.places.former {
            case .merged(let survivor):
                return redirect(request, to: survivor, isPersonal: query.center != nil)
            case .removed: throw Self.gone
            case nil: throw Self.notFound
            }
        }
        return try responder.respond(
            from: page.datasetID, after: page.databaseDuration, by: store,
            expectedBytes: page.places.expectedBytes + 64, in: context
        ) { writer in
            let style = PlaceStyle(ofDetails: form, languages: query.languages)
            try page.places.write(0, as: style, to: &writer)
        }
    }
}

extension PlaceHandler {
    /// The response that leads to the place that the request's one was merged into, with the same query. The reference is relative,
    /// so that it works behind any prefix (RFC 3986, section 5.2).
    private func redirect(_ request: HTTPRequest, to survivor: Int64, isPersonal: Bool) -> HTTPResponse {
        let query = request.query.map { "?\($0)" } ?? ""
        let fields = isPersonal ? cachePolicy.personalRedirect : cachePolicy.sharedRedirect
        return HTTPResponse(
            .permanentRedirect, headers: [.location: "\(survivor)\(query)", .cacheControl: fields])
    }
}

extension PlacesForm {
    /// The hashes that entity tags of a path begin with, one for each form, in the order of the forms' raw values.
    fileprivate static func representations(of path: String) -> [RepresentationHash] {
        allCases.map { RepresentationHash(path: path, mediaType: $0.mediaType) }
    }
}

/// A request with a filter, so that decoding it may need the vocabulary.
protocol FilteredRequest {
    var hasNames: Bool { get }

    static func decode(
        query: UnsafeBufferPointer<UInt8>, ignoring: [ParameterPattern],
        vocabulary: @autoclosure () -> FilterVocabulary?
    ) throws(ParameterError) -> Self
}

extension NearbyPlacesRequest: FilteredRequest { var hasNames: Bool { filter.hasNames } }

extension ClustersRequest: FilteredRequest { var hasNames: Bool { filter.hasNames } }

extension DigestRequest: FilteredRequest { var hasNames: Bool { filter.hasNames } }

extension PlaceStore {
    /// Decodes a request with the vocabulary that is known. If none is known, or a name of the request isn't in it,
    /// decodes it with the current vocabulary.
    /// - Throws: `ParameterError`; why the database couldn't be read.
    @inline(__always)
    func decode<Query: FilteredRequest>(
        _: Query.Type, from request: HTTPRequest, ignoring ignored: [ParameterPattern]
    ) throws -> NowOrLater<Query, any Error> {
        do {
            let query: Query = try decode(request, ignoring: ignored, vocabulary)
            if !query.hasNames || vocabulary != nil { return .now(query) }
        } catch let error as ParameterError where error.faults.contains(where: \.isUnknownName) {}
        switch try currentVocabulary() {
        case .now(let vocabulary): return .now(try decode(request, ignoring: ignored, vocabulary))
        case .later(let getVocabulary):
            return .later { [self] in
                let vocabulary = try await getVocabulary()
                return try decode(request, ignoring: ignored, vocabulary)
            }
        }
    }

    private func decode<Query: FilteredRequest>(
        _ request: HTTPRequest, ignoring ignored: [ParameterPattern],
        _ vocabulary: @autoclosure () -> FilterVocabulary?
    ) throws -> Query {
        try request.withQuery { query in
            try Query.decode(query: query, ignoring: ignored, vocabulary: vocabulary())
        }
    }
}
