import HTTPServer
import PointsOfInterestAPI

/// The way of every answer that rests on the dataset: told by its tag, and not made again for a client that
/// has it (RFC 9110, section 13).
struct DatasetAnswers {
    /// What a store has answered.
    struct Fetched {
        let datasetID: DatasetID?
        let databaseDuration: Duration?
        /// The `Link` to the next page.
        var link: String?
        /// Writes the body, which not every answer needs.
        let body: () throws -> [UInt8]
    }

    let store: any PlaceStore
    let representation: RepresentationHash
    /// The fields of an answer with a body, and of one without.
    let fields: (fresh: HTTPHeaders, notModified: HTTPHeaders)
    /// Whether there is such a resource whatever the store says.
    var exists = true

    /// 304 without asking the store where its dataset is known to be what the client has; else what is fetched,
    /// or a 304 where that turns out to be the same.
    func answer(_ request: HTTPRequest, _ fetch: () async throws -> Fetched) async throws -> HTTPResponse {
        let isConditional = request.headers.contains(.ifNoneMatch)
        if isConditional, let tag = store.currentDatasetID.map(representation.tag),
            request.headers.ifNoneMatchNames(tag, countsAny: exists)
        {
            return notModified(tag)
        }
        let fetched = try await fetch()
        let tag = fetched.datasetID.map(representation.tag)
        if isConditional, request.headers.ifNoneMatchNames(tag) { return notModified(tag) }
        var headers = fields.fresh
        if let tag { headers.add(.eTag, tag.fieldValue) }
        if let link = fetched.link { headers.add(.link, link) }
        if let duration = fetched.databaseDuration {
            headers.add(.serverTiming, ServerTiming.database(duration))
        }
        return HTTPResponse(.ok, headers: headers, body: try fetched.body())
    }

    private func notModified(_ tag: EntityTag?) -> HTTPResponse {
        var headers = fields.notModified
        if let tag { headers.add(.eTag, tag.fieldValue) }
        return HTTPResponse(.notModified, headers: headers)
    }
}
