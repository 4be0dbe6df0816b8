import PointsOfInterestServerAPI
import EventLoop
import HTTPServer
import Places
import PointsOfInterestAPI

/// A kind of counts of all places that an endpoint serves.
protocol CountedResource: DatasetCount {
    static var path: String { get }
    /// The name of these counts in the plural, as a sentence begins with it.
    static var plural: String { get }

    static func counts(of store: any PlaceStore) throws(PlaceStoreError) -> Stored<DatasetCounts<Self>>

    static func write(_ items: [Self], to writer: inout JSONWriter)
}

extension CategoryCount: CountedResource {
    static var path: String { EndpointPath.categories }
    static var plural: String { "Categories" }

    static func counts(of store: any PlaceStore) throws(PlaceStoreError) -> Stored<DatasetCounts<Self>> {
        try store.categories()
    }

    static func write(_ items: [Self], to writer: inout JSONWriter) { writer.value(items) }
}

extension Attribution: CountedResource {
    static var path: String { EndpointPath.attributions }
    static var plural: String { "Attributions" }

    static func counts(of store: any PlaceStore) throws(PlaceStoreError) -> Stored<DatasetCounts<Self>> {
        try store.attributions()
    }

    static func write(_ items: [Self], to writer: inout JSONWriter) { writer.value(items) }
}

/// `GET /categories` and `GET /attributions`: all counts of one kind.
struct CountsHandler<Item: CountedResource>: HTTPHandler {
    let store: any PlaceStore
    let cachePolicy: CachePolicy
    let ignoredParameters: [ParameterPattern]
    private let representation = RepresentationHash(path: Item.path, mediaType: MediaType.json)
    private let offer = MediaTypeOffer([MediaType.json])

    func respond(to request: HTTPRequest, context: RequestContext) throws -> NowOrLaterResponse {
        let responder = try responder(to: request, context)
        if let response = responder.notModified(by: store) { return .now(response) }
        switch try Item.counts(of: store) {
        case .now(let counts): return .now(try respond(with: counts, responder, context))
        case .later(let getCounts):
            return .later { try respond(with: try await getCounts(), responder, context) }
        }
    }

    private func respond(
        with counts: DatasetCounts<Item>, _ responder: DatasetResponder, _ context: RequestContext
    ) throws -> HTTPResponse {
        try responder.respond(
            from: counts.datasetID, after: counts.databaseDuration, by: store,
            expectedBytes: 16 + 64 * counts.items.count, in: context
        ) { writer in
            Item.write(counts.items, to: &writer)
        }
    }

    private func responder(to request: HTTPRequest, _ context: RequestContext) throws -> DatasetResponder {
        guard offer.choice(for: request.headers) != nil else {
            throw HTTPError.notAcceptable("\(Item.plural) come as \(MediaType.json).")
        }
        try NoParameter.refuseAll(of: request.queryBytes, ignoring: ignoredParameters)
        return DatasetResponder(request, representation, fields: cachePolicy.shared, in: context)
    }
}
