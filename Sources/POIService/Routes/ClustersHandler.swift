import PointsOfInterestServerAPI
import EventLoop
import HTTPServer
import Places
import PointsOfInterestAPI

/// `GET /locations/clusters`: how many places are in each cell of a map.
struct ClustersHandler: HTTPHandler {
    let store: any PlaceStore
    let cachePolicy: CachePolicy
    let ignoredParameters: [ParameterPattern]
    let loggedCoordinates: LoggedCoordinates
    let clients: ClientIdentification
    private let representation = RepresentationHash(path: EndpointPath.clusters, mediaType: MediaType.json)
    private let offer = MediaTypeOffer([MediaType.json])

    func respond(to request: HTTPRequest, context: RequestContext) throws -> NowOrLaterResponse {
        try checkForm(of: request)
        switch try store.decode(ClustersRequest.self, from: request, ignoring: ignoredParameters) {
        case .now(let query): return try respond(to: request, query, context)
        case .later(let decode): return .later { try await respond(to: request, decode(), context).value() }
        }
    }

    private func respond(
        to request: HTTPRequest, _ query: ClustersRequest, _ context: RequestContext
    ) throws -> NowOrLaterResponse {
        loggedCoordinates.note(nil, query.box, in: context)
        let responder = responder(to: request, query, context)
        if let response = responder.notModified(by: store) { return .now(response) }
        switch try store.clusters(for: query, from: clients.client(of: request, context)) {
        case .now(let page): return .now(try respond(with: page, to: query, responder, context))
        case .later(let getPage):
            return .later { try respond(with: try await getPage(), to: query, responder, context) }
        }
    }

    private func checkForm(of request: HTTPRequest) throws(HTTPError) {
        guard offer.choice(for: request.headers) != nil else {
            throw .notAcceptable("Clusters come as \(MediaType.json).")
        }
    }

    private func responder(
        to request: HTTPRequest, _ query: ClustersRequest, _ context: RequestContext
    ) -> DatasetResponder {
        var encoded = QueryWriter()
        query.encode(into: &encoded)
        return DatasetResponder(
            request, representation.adding(encoded),
            fields: query.filter.searchText == nil ? cachePolicy.shared : cachePolicy.personal, in: context)
    }

    private func respond(
        with page: ClusterPage, to query: ClustersRequest, _ responder: DatasetResponder,
        _ context: RequestContext
    ) throws -> HTTPResponse {
        try responder.respond(
            from: page.datasetID, after: nil, by: store,
            expectedBytes: 64 + 128 * page.sums.count + page.places.expectedBytes, in: context
        ) { writer in
            writer.beginObject()
            writer.member("zoom", query.zoom)
            writer.name("clusters")
            let style = PlaceStyle(.json, query.content)
            try Self.write(page, as: style, to: &writer)
            writer.endObject()
        }
    }

    private static func write(_ page: ClusterPage, as style: PlaceStyle, to writer: inout JSONWriter) throws {
        var singleCount = 0
        writer.beginArray()
        for sum in page.sums {
            writer.beginObject()
            writer.member("count", sum.count)
            writer.member("latitude", sum.mean.latitude)
            writer.member("longitude", sum.mean.longitude)
            if let box = sum.box {
                writer.name("bbox")
                writer.beginArray()
                for edge in [box.west, box.south, box.east, box.north] { writer.value(edge) }
                writer.endArray()
            }
            if sum.count == 1 {
                writer.name("place")
                try page.places.write(singleCount, as: style, to: &writer)
                singleCount += 1
            }
            writer.endObject()
        }
        writer.endArray()
    }
}
