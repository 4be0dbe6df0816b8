import HTTPServer
import Places
import PointsOfInterestAPI

/// Serves responses that depend on the dataset, with `ETag` and 304 (RFC 9110, section 13).
struct DatasetResponder {
    /// The request's fields where they have an `If-None-Match`; nil otherwise, so that they need no copy.
    private let conditions: HTTPHeaders?
    private let representation: RepresentationHash
    private let fields: PreparedFields
    private let notModifiedFields: PreparedFields

    /// Whoever makes one is about to look for data, in memory first.
    ///
    /// - Parameters:
    ///   - fields: the header fields of a response with a body.
    ///   - notModifiedFields: the header fields of one without.
    init(
        _ request: HTTPRequest, _ representation: RepresentationHash, fields: PreparedFields,
        notModifiedFields: PreparedFields, in context: RequestContext
    ) {
        context.source = .memory
        conditions = request.headers.contains(.ifNoneMatch) ? request.headers : nil
        self.representation = representation
        self.fields = fields
        self.notModifiedFields = notModifiedFields
    }

    /// 304 where the store knows without reading that the client has the current dataset; nil where it has to be read.
    ///
    /// - Parameter exists: whether the resource exists whatever the store returns.
    func notModified(by store: any PlaceStore, exists: Bool = true) -> HTTPResponse? {
        guard let conditions, let tag = store.currentDatasetID.map(representation.tag),
            conditions.ifNoneMatchNames(tag, countsAny: exists)
        else { return nil }
        return notModified(tag, by: store)
    }

    /// The response to what was read from a dataset, or 304 where that turns out to be the one that the client has.
    ///
    /// - Parameters:
    ///   - datasetID: the dataset; nil where it isn't known.
    ///   - databaseDuration: how long the database took.
    ///   - store: where it was read.
    ///   - expectedBytes: about how long the body is.
    ///   - write: writes the body, which a 304 doesn't need.
    func respond(
        from datasetID: DatasetID?, after databaseDuration: Duration?, by store: any PlaceStore,
        expectedBytes: Int,
        in context: RequestContext, write: (inout JSONWriter) throws -> Void
    ) throws -> HTTPResponse {
        let tag = datasetID.map(representation.tag)
        if let conditions, conditions.ifNoneMatchNames(tag) { return notModified(tag, by: store) }
        var headers = Self.headers(store)
        if let databaseDuration { headers.add(.serverTiming, Self.serverTiming(databaseDuration)) }
        var writer = JSONWriter(
            adopting: context.takeResponseMemory(atLeast: ResponseBody.headroom + expectedBytes),
            from: ResponseBody.headroom)
        try write(&writer)
        let (memory, end) = writer.release()
        return HTTPResponse(
            .ok, prepared: fields, entityTag: tag, headers: headers,
            body: ResponseBody(adopting: memory, end: end))
    }

    private func notModified(_ tag: EntityTag?, by store: any PlaceStore) -> HTTPResponse {
        HTTPResponse(.notModified, prepared: notModifiedFields, entityTag: tag, headers: Self.headers(store))
    }

    /// Says how old data are that may not be the newest any more.
    ///
    /// Not by `Age` (RFC 9111, section 5.1): beyond `max-age` it would have every cache ask again at once.
    private static func headers(_ store: any PlaceStore) -> HTTPHeaders {
        var headers = HTTPHeaders()
        if let seconds = store.staleSeconds { headers.add(.staleSeconds, String(seconds)) }
        return headers
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
    static let contractRevision: UInt64 = 2

    private var hash: UInt64

    /// Begins with a path and a form, which many requests have in common.
    init(path: String, mediaType: String) {
        hash = StableHash.hash(Self.contractRevision, seed: StableHash.basis)
        // None of these characters is in a part, so no part runs into the next.
        for part in [mediaType, " ", path, "?"] { hash = StableHash.hash(part, seed: hash) }
    }

    /// The same of one place, at a path that is a template.
    func adding(id: Int) -> RepresentationHash {
        var result = self
        result.hash = StableHash.hash(UInt64(bitPattern: Int64(id)), seed: hash)
        return result
    }

    /// The same with a query.
    func adding(_ query: borrowing QueryWriter) -> RepresentationHash {
        var result = self
        result.hash = query.hash(seed: hash)
        return result
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
    let json: PreparedFields
    let geoJSON: PreparedFields
    let notModified: PreparedFields

    init(cacheControl: String) {
        json = PreparedFields([.contentType: MediaType.json, .cacheControl: cacheControl])
        geoJSON = PreparedFields([.contentType: MediaType.geoJSON, .cacheControl: cacheControl])
        notModified = PreparedFields([.cacheControl: cacheControl])
    }
}

extension HTTPHeaderName {
    /// How many seconds ago the data of a response were last known to be the newest.
    static let staleSeconds: HTTPHeaderName = "Poi-Stale-Seconds"
}
