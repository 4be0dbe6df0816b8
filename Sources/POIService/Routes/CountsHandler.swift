import PointsOfInterestServerAPI
import EventLoop
import HTTPServer
import Places
import PointsOfInterestAPI

/// A kind of counts of all places that an endpoint serves.
protocol CountedResource: DatasetCount {
    /// What a request asks for.
    associatedtype Query

    static var path: String { get }
    /// The name of these counts in the plural, as a sentence begins with it.
    static var plural: String { get }

    static func decode(_ query: [UInt8], ignoring ignored: [ParameterPattern]) throws -> Query

    /// Writes what a request asks for, in one way.
    static func encode(_ query: Query, into writer: inout QueryWriter)

    /// Whether a request says what somebody looks for.
    static func isPersonal(_ query: Query) -> Bool

    static func counts(of store: any PlaceStore) throws(PlaceStoreError) -> Stored<DatasetCounts<Self>>

    static func write(_ counts: DatasetCounts<Self>, for query: Query, to writer: inout JSONWriter)
}

extension CategoryCount: CountedResource {
    static var path: String { EndpointPath.categories }
    static var plural: String { "Categories" }

    static func decode(_ query: [UInt8], ignoring ignored: [ParameterPattern]) throws -> CategoriesRequest {
        try CategoriesRequest.decode(query: query, ignoring: ignored)
    }

    static func encode(_ query: CategoriesRequest, into writer: inout QueryWriter) {
        query.encode(into: &writer)
    }

    static func isPersonal(_ query: CategoriesRequest) -> Bool { query.searchText != nil }

    static func counts(of store: any PlaceStore) throws(PlaceStoreError) -> Stored<DatasetCounts<Self>> {
        try store.categories()
    }

    static func write(
        _ counts: DatasetCounts<Self>, for query: CategoriesRequest, to writer: inout JSONWriter
    ) {
        writer.value(counts.items(of: query))
    }
}

extension Attribution: CountedResource {
    static var path: String { EndpointPath.attributions }
    static var plural: String { "Attributions" }

    static func decode(_ query: [UInt8], ignoring ignored: [ParameterPattern]) throws {
        try NoParameter.refuseAll(of: query, ignoring: ignored)
    }

    static func encode(_ query: Void, into writer: inout QueryWriter) {}

    static func isPersonal(_ query: Void) -> Bool { false }

    static func counts(of store: any PlaceStore) throws(PlaceStoreError) -> Stored<DatasetCounts<Self>> {
        try store.attributions()
    }

    static func write(_ counts: DatasetCounts<Self>, for query: Void, to writer: inout JSONWriter) {
        writer.value(counts.items)
    }
}

/// `GET /categories` and `GET /attributions`: counts of one kind.
struct CountsHandler<Item: CountedResource>: HTTPHandler {
    let store: any PlaceStore
    let cachePolicy: CachePolicy
    let ignoredParameters: [ParameterPattern]
    private let representation = RepresentationHash(path: Item.path, mediaType: MediaType.json)
    private let offer = MediaTypeOffer([MediaType.json])

    func respond(to request: HTTPRequest, context: RequestContext) throws -> NowOrLaterResponse {
        guard offer.choice(for: request.headers) != nil else {
            throw HTTPError.notAcceptable("\(Item.plural) come as \(MediaType.json).")
        }
        let query = try Item.decode(Array(request.queryBytes), ignoring: ignoredParameters)
        let responder = responder(to: request, query, context)
        if let response = responder.notModified(by: store) { return .now(response) }
        switch try Item.counts(of: store) {
        case .now(let counts): return .now(try respond(with: counts, query, responder, context))
        case .later(let getCounts):
            return .later { try respond(with: try await getCounts(), query, responder, context) }
        }
    }

    private func respond(
        with counts: DatasetCounts<Item>, _ query: Item.Query, _ responder: DatasetResponder,
        _ context: RequestContext
    ) throws -> HTTPResponse {
        try responder.respond(
            from: counts.datasetID, after: counts.databaseDuration, by: store,
            expectedBytes: 16 + 64 * counts.items.count, in: context
        ) { writer in
            Item.write(counts, for: query, to: &writer)
        }
    }

    private func responder(
        to request: HTTPRequest, _ query: Item.Query, _ context: RequestContext
    ) -> DatasetResponder {
        var encoded = QueryWriter()
        Item.encode(query, into: &encoded)
        return DatasetResponder(
            request, representation.adding(encoded),
            fields: Item.isPersonal(query) ? cachePolicy.personal : cachePolicy.shared, in: context)
    }
}
