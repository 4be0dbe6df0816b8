import HTTPServer
import PointsOfInterestAPI

/// Serves responses that depend on the dataset, with `ETag` and 304 (RFC 9110, section 13).
struct DatasetResponder {
    /// Of the request.
    private let headers: HTTPHeaders
    private let isConditional: Bool
    private let representation: RepresentationHash
    private let fields: (fresh: HTTPHeaders, notModified: HTTPHeaders)

    /// - Parameter fields: the header fields of a response with a body, and of one without.
    init(
        _ request: HTTPRequest, _ representation: RepresentationHash,
        fields: (fresh: HTTPHeaders, notModified: HTTPHeaders)
    ) {
        headers = request.headers
        isConditional = headers.contains(.ifNoneMatch)
        self.representation = representation
        self.fields = fields
    }

    /// 304 where the store knows without reading that the client has the current dataset; nil where it has to be read.
    ///
    /// - Parameter exists: whether the resource exists whatever the store returns.
    func notModified(by store: any PlaceStore, exists: Bool = true) -> HTTPResponse? {
        guard isConditional, let tag = store.currentDatasetID.map(representation.tag),
            headers.ifNoneMatchNames(tag, countsAny: exists)
        else { return nil }
        return notModified(tag)
    }

    /// The response to what was read from a dataset, or 304 where that turns out to be the one that the client has.
    ///
    /// - Parameters:
    ///   - datasetID: the dataset; nil where it isn't known.
    ///   - databaseDuration: how long the database took.
    ///   - link: the `Link` to the next page.
    ///   - body: writes the body, which a 304 doesn't need.
    func respond(
        from datasetID: DatasetID?, after databaseDuration: Duration?, link: String? = nil,
        body: () throws -> [UInt8]
    ) throws -> HTTPResponse {
        let tag = datasetID.map(representation.tag)
        if isConditional, headers.ifNoneMatchNames(tag) { return notModified(tag) }
        var headers = fields.fresh
        if let tag { headers.add(.eTag, tag.fieldValue) }
        if let link { headers.add(.link, link) }
        if let databaseDuration { headers.add(.serverTiming, Self.serverTiming(databaseDuration)) }
        return HTTPResponse(.ok, headers: headers, body: try body())
    }

    private func notModified(_ tag: EntityTag?) -> HTTPResponse {
        var headers = fields.notModified
        if let tag { headers.add(.eTag, tag.fieldValue) }
        return HTTPResponse(.notModified, headers: headers)
    }

    /// The database's share of a response's time, in milliseconds with three decimals (W3C Server Timing, section 3).
    static func serverTiming(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = max(0, attoseconds / 1_000_000_000_000)
        let (milliseconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1000)
        let fraction = rest < 10 ? "00\(rest)" : rest < 100 ? "0\(rest)" : "\(rest)"
        // A query that takes an hour has ended long before.
        return "db;dur=\(min(max(0, seconds), 3600) * 1000 + milliseconds).\(fraction)"
    }
}

/// What an entity tag depends on apart from the dataset: the resource, its form and how it is written.
///
/// Equal requests have equal queries once they are encoded again, however the client wrote them.
struct RepresentationHash {
    /// To be raised when the response to the same request over the same places changes: then no old tag may match.
    private static let contractRevision: UInt64 = 2

    private let hash: UInt64

    init(path: String, query: [QueryItem], mediaType: String) {
        var hash = StableHash.hash(Self.contractRevision, seed: StableHash.basis)
        // None of these characters is in a part, so no part runs into the next.
        for part in [mediaType, " ", path, "?", query.percentEncodedQuery] {
            hash = StableHash.hash(part, seed: hash)
        }
        self.hash = hash
    }

    /// The tag of this representation of a dataset.
    func tag(of dataset: DatasetID) -> EntityTag {
        var hash = hash
        hash = StableHash.hash(dataset.high, seed: hash)
        return EntityTag(hash: StableHash.hash(dataset.low, seed: hash))
    }
}

/// How long clients and caches may keep responses (RFC 9111).
struct CachePolicy: Sendable {
    /// For responses that depend on somebody's position: kept by that client only.
    let personal: ResponseFields
    /// For all other data.
    let shared: ResponseFields
    /// The `Cache-Control` of pages and documents, which everybody may read.
    let documents: String

    init(_ configuration: CachingConfiguration, requiresKey: Bool) {
        personal = ResponseFields(cacheControl: "private, max-age=\(configuration.privateMaxAgeSeconds)")
        let publicAge = "max-age=\(configuration.publicMaxAgeSeconds)"
        // A shared cache would serve clients without a key (RFC 9111, section 3.5).
        shared = ResponseFields(cacheControl: "\(requiresKey ? "private" : "public"), \(publicAge)")
        documents = "public, \(publicAge)"
    }
}

/// Header fields that don't depend on the request, made once.
struct ResponseFields: Sendable {
    let json: HTTPHeaders
    let geoJSON: HTTPHeaders
    let notModified: HTTPHeaders

    init(cacheControl: String) {
        json = [.contentType: MediaType.json, .cacheControl: cacheControl]
        geoJSON = [.contentType: MediaType.geoJSON, .cacheControl: cacheControl]
        notModified = [.cacheControl: cacheControl]
    }
}
