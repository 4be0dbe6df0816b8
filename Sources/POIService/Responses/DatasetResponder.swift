import HTTPServer
import Places
import PointsOfInterestAPI

/// Serves responses that depend on the dataset, with `ETag` and 304 (RFC 9110, section 13).
struct DatasetResponder {
    /// The request's fields if they have an `If-None-Match`; nil otherwise, so that they need no copy.
    private let conditions: HTTPHeaders?
    private let representation: RepresentationHash
    private let fields: ResponseFields
    private let form: PlacesForm

    /// Makes a responder, and notes in `context` that the data come from memory. If the request waits for the database,
    /// the log has that as the source instead.
    init(
        _ request: borrowing HTTPRequest, _ representation: RepresentationHash, fields: ResponseFields,
        form: PlacesForm = .json, in context: RequestContext
    ) {
        context.source = .memory
        conditions = request.headers.contains(.ifNoneMatch) ? request.headers : nil
        self.representation = representation
        self.fields = fields
        self.form = form
    }

    /// A 304 if the store knows, without reading, that the client has the response of the current dataset; nil if the
    /// store has to be read.
    /// - Parameter exists: whether the resource exists in any case, so that `If-None-Match: *` matches it too.
    func notModified(by store: any PlaceStore, exists: Bool = true) -> HTTPResponse? {
        guard let conditions, let tag = store.currentDatasetID.map(representation.tag),
            conditions.ifNoneMatchNames(tag, countsAny: exists)
        else { return nil }
        return notModified(tag, by: store)
    }

    /// The response with what was read from a dataset, or a 304 if the client already has the response of that dataset.
    /// - Parameter write: writes the body; it isn't called for a 304.
    func respond(
        from datasetID: DatasetID?, after databaseDuration: Duration?, by store: any PlaceStore,
        expectedBytes: Int, in context: RequestContext, write: (inout JSONWriter) throws -> Void
    ) throws -> HTTPResponse {
        let tag = datasetID.map(representation.tag)
        if let conditions, conditions.ifNoneMatchNames(tag) { return notModified(tag, by: store) }
        var headers = Self.headers(store)
        if let databaseDuration { headers.add(.serverTiming, Self.serverTiming(databaseDuration)) }
        var writer = JSONWriter(appendingTo: context.takeResponseBuffer(expecting: expectedBytes))
        try write(&writer)
        return HTTPResponse(
            .ok, prepared: form.fields(fields), entityTag: tag, headers: headers,
            body: context.makeResponseBody(writer.release()))
    }

    /// The same with a body that was written elsewhere.
    func respond(
        with body: [UInt8], isCompressed: Bool, from datasetID: DatasetID, by store: any PlaceStore
    ) -> HTTPResponse {
        let tag = representation.tag(of: datasetID)
        if let conditions, conditions.ifNoneMatchNames(tag) { return notModified(tag, by: store) }
        var headers = Self.headers(store)
        if isCompressed { headers.add(.contentEncoding, "gzip") }
        return HTTPResponse(
            .ok, prepared: form.fields(fields), entityTag: tag, headers: headers, body: body)
    }

    private func notModified(_ tag: EntityTag?, by store: any PlaceStore) -> HTTPResponse {
        HTTPResponse(.notModified, prepared: fields.notModified, entityTag: tag, headers: Self.headers(store))
    }

    /// The field that says how old the data are, if they may not be the newest any more. The field isn't `Age` (RFC 9111,
    /// section 5.1): an age beyond `max-age` would make every cache ask again at once.
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
        // The limit of an hour is never reached: queries are ended long before.
        return "db;dur=\(min(max(0, seconds), 3600) * 1000 + milliseconds).\(fraction)"
    }
}

/// A hash of what an entity tag depends on besides the dataset: the resource, its form and how it is written. The query in
/// it is encoded anew from the decoded request. So equal requests have the same hash, however the client wrote them.
struct RepresentationHash {
    /// Raise it when the response to the same request over the same places changes, so that no old tag matches.
    static let contractRevision: UInt64 = 5

    private var hash: UInt64

    /// Begins a hash with a path and a media type, which many requests have in common.
    init(path: String, mediaType: String) {
        hash = StableHash.hash(Self.contractRevision, seed: StableHash.basis)
        // The separators " " and "?" occur in no part, so no part runs into the next one.
        for part in [mediaType, " ", path, "?"] { hash = StableHash.hash(part, seed: hash) }
    }

    /// This hash with the id of one place, for a path that is a template.
    func adding(id: Int) -> RepresentationHash {
        var result = self
        result.hash = StableHash.hash(UInt64(bitPattern: Int64(id)), seed: hash)
        return result
    }

    func adding(_ query: borrowing QueryWriter) -> RepresentationHash {
        var result = self
        result.hash = query.hash(seed: hash)
        return result
    }

    func tag(of dataset: DatasetID) -> EntityTag {
        var hash = hash
        hash = StableHash.hash(dataset.high, seed: hash)
        return EntityTag(hash: StableHash.hash(dataset.low, seed: hash))
    }
}

/// How long clients and caches may keep responses (RFC 9111).
struct CachePolicy: Sendable {
    /// For responses that depend on somebody's position. Only that client keeps them.
    let personal: ResponseFields
    /// For all other data.
    let shared: ResponseFields
    /// The `Cache-Control` of redirects to a place that another one was merged into: for a minute at most, since the place may be
    /// restored.
    let personalRedirect, sharedRedirect: String
    /// The `Cache-Control` of the problem pages and the OpenAPI document, which everybody may read.
    let documents: String

    init(_ configuration: CachingConfiguration, requiresKey: Bool) {
        personal = ResponseFields(cacheControl: "private, max-age=\(configuration.privateMaxAgeSeconds)")
        let publicAge = "max-age=\(configuration.publicMaxAgeSeconds)"
        // A shared cache would also serve clients that have no key (RFC 9111, section 3.5).
        let scope = requiresKey ? "private" : "public"
        shared = ResponseFields(cacheControl: "\(scope), \(publicAge)")
        personalRedirect = "private, max-age=\(min(configuration.privateMaxAgeSeconds, 60))"
        sharedRedirect = "\(scope), max-age=\(min(configuration.publicMaxAgeSeconds, 60))"
        documents = "public, \(publicAge)"
    }
}

/// Header fields that don't depend on the request, made once.
final class ResponseFields: Sendable {
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

extension PlacesForm {
    private static let offer = MediaTypeOffer([MediaType.json, MediaType.geoJSON])

    /// - Throws: 406 where it accepts neither.
    init(acceptedBy request: borrowing HTTPRequest) throws(HTTPError) {
        guard let form = Self.offer.choice(for: request.headers).flatMap(Self.init(rawValue:)) else {
            throw .notAcceptable("Places come as \(MediaType.json) or \(MediaType.geoJSON).")
        }
        self = form
    }

    var mediaType: String {
        switch self {
        case .json: MediaType.json
        case .geoJSON: MediaType.geoJSON
        }
    }

    func fields(_ fields: ResponseFields) -> PreparedFields {
        switch self {
        case .json: fields.json
        case .geoJSON: fields.geoJSON
        }
    }
}
