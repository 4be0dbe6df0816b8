import EventLoop
import HTTPServer
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// `GET /locations/digest`: sums by which a phone compares the places that it keeps, and the places of buckets that differ.
struct DigestHandler: HTTPHandler {
    let store: any PlaceStore
    let cachePolicy: CachePolicy
    let ignoredParameters: [ParameterPattern]
    let loggedCoordinates: LoggedCoordinates
    let clients: ClientIdentification
    /// With more places than this, a filter is refused.
    let maximumCount: Int
    private let representation = RepresentationHash(path: EndpointPath.digest, mediaType: MediaType.json)
    private let offer = MediaTypeOffer([MediaType.json])

    init(
        store: any PlaceStore, cachePolicy: CachePolicy, ignoredParameters: [ParameterPattern],
        loggedCoordinates: LoggedCoordinates, clients: ClientIdentification, maximumCount: Int
    ) {
        self.store = store
        self.cachePolicy = cachePolicy
        self.ignoredParameters = ignoredParameters
        self.loggedCoordinates = loggedCoordinates
        self.clients = clients
        self.maximumCount = maximumCount
    }

    func respond(to request: HTTPRequest, context: RequestContext) throws -> NowOrLaterResponse {
        guard offer.choice(for: request.headers) != nil else {
            throw HTTPError.notAcceptable("A digest comes as \(MediaType.json).")
        }
        switch try store.decode(DigestRequest.self, from: request, ignoring: ignoredParameters) {
        case .now(let query): return try respond(to: request, query, context)
        case .later(let decode): return .later { try await respond(to: request, decode(), context).value() }
        }
    }

    private func respond(
        to request: HTTPRequest, _ query: DigestRequest, _ context: RequestContext
    ) throws -> NowOrLaterResponse {
        loggedCoordinates.note(nil, query.box, in: context)
        var encoded = QueryWriter()
        query.encode(into: &encoded)
        // The box is where somebody lives, or travels.
        let responder = DatasetResponder(
            request, representation.adding(encoded), fields: cachePolicy.personal, in: context)
        if let response = responder.notModified(by: store) { return .now(response) }
        let client = clients.client(of: request, context)
        // Elsewhere than on the loop, since it may be long; to HEAD, compressing would tell only the length.
        let isCompressed = request.method != .head && ResponseCompression.isPreferred(by: request)
        let compress: DigestPage.Compression? = isCompressed ? ResponseCompression.gzip : nil
        let found = try store.digest(
            for: query, maximumCount: maximumCount, compressedBy: compress, from: client)
        switch found {
        case .now(let page): return .now(try respond(with: page, to: query, responder, context))
        case .later(let getPage):
            return .later { try respond(with: try await getPage(), to: query, responder, context) }
        }
    }

    private func respond(
        with page: DigestPage, to query: DigestRequest, _ responder: DatasetResponder,
        _ context: RequestContext
    ) throws -> HTTPResponse {
        guard page.count <= maximumCount else {
            throw ParameterError(faults: [
                ParameterFault(
                    parameter: "bbox", code: .areaTooLarge,
                    detail: "must be smaller, or the filter narrower: \(page.count) places match, at most "
                        + "\(maximumCount) are compared")
            ])
        }
        return responder.respond(
            with: page.body, isCompressed: page.isCompressed, from: page.datasetID, by: store)
    }
}
