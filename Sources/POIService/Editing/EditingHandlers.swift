import HTTPServer
import Hashing
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// What the handlers of all requests of editors have in common.
struct EditingHandlers {
    let store: any EditStore
    /// Serves what was edited, once it has it.
    let places: any PlaceStore
    let access: EditingAccess
    let ignoredParameters: [ParameterPattern]
    /// The license of the places that people make.
    let license: String

    /// How long a response waits until this server serves the edit.
    private static let visibleTime = Duration.seconds(2)

    private static let idempotencyKey: HTTPHeaderName = "Idempotency-Key"
    private static let location: HTTPHeaderName = "Location"
    private static let visible: HTTPHeaderName = "Poi-Visible"
    private static let preconditionRequired = HTTPError(
        .preconditionRequired, .preconditionRequired,
        "An edit says by If-Match which version of the place was seen.")

    // MARK: Reading

    func record(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        try WriteCheck.checkAccept(request)
        try NoParameter.refuseAll(of: request.queryBytes, ignoring: ignoredParameters)
        let place = try await store.record(of: try Self.id(context))
        if let versions = try Self.expectedVersions(request), !versions.contains(place.version) {
            throw EditError.stale(version: place.version)
        }
        var response = Self.response(place)
        response.headers.add(WriteCheck.acceptPatch, WriteCheck.mergePatch)
        return response
    }

    func versions(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        try WriteCheck.checkAccept(request)
        let query = try VersionsRequest.decode(query: request.queryBytes, ignoring: ignoredParameters)
        let page = try await store.versions(
            of: try Self.id(context), from: query.position, count: query.limit)
        return .page(of: page.items, next: page.next.map { "versions?\(query.query(from: $0))" })
    }

    func changes(_ request: HTTPRequest, _: RequestContext) async throws -> HTTPResponse {
        try WriteCheck.checkAccept(request)
        let query = try ChangesRequest.decode(query: request.queryBytes, ignoring: ignoredParameters)
        let page = try await store.changes(in: query.box, from: query.position, count: query.limit)
        return .page(of: page.items, next: page.next.map { "?\(query.query(from: $0))" })
    }

    // MARK: Editing

    func create(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        try check(request, content: MediaType.json)
        let changes = try PlaceChanges.decode(body: request.body, isNew: true)
        let outcome = try await edit(
            .create(changes, dataset: changes.dataset ?? EditLimits.dataset, license: license), nil, request,
            context)
        guard let place = outcome.place else { throw EditError.gone }
        var response = await response(to: outcome)
        response.status = .created
        // Relative to the request's path, whatever a proxy has in front of it.
        response.headers.add(Self.location, "locations/\(place.id)")
        return response
    }

    func correct(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        let id = try Self.id(context)
        try check(request, content: WriteCheck.mergePatch)
        let versions = try Self.requiredVersions(request)
        let changes = try PlaceChanges.decode(body: request.body, isNew: false)
        return await response(to: try await edit(.correct(id, changes), versions, request, context))
    }

    func remove(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        let id = try Self.id(context)
        try check(request, content: nil)
        let versions = try Self.requiredVersions(request)
        return await response(to: try await edit(.remove(id), versions, request, context))
    }

    func restore(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        let id = try Self.id(context)
        try check(request, content: MediaType.json)
        let versions = try Self.requiredVersions(request)
        let restored = try NumberBody.decode(request.body, member: "version")
        return await response(to: try await edit(.restore(id, version: restored), versions, request, context))
    }

    func merge(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        let id = try Self.id(context)
        try check(request, content: MediaType.json)
        let versions = try Self.requiredVersions(request)
        let other = try NumberBody.decode(request.body, member: "into")
        return await response(to: try await edit(.merge(id, into: other), versions, request, context))
    }

    private func edit(
        _ action: PlaceEdit.Action, _ versions: [Int64]?, _ request: HTTPRequest, _ context: RequestContext
    ) async throws -> EditOutcome {
        let editor = try access.currentEditor(of: request, context)
        return try await store.edit(
            PlaceEdit(action, expectedVersions: versions, editor: editor, key: try Self.key(request)))
    }

    private func response(to outcome: EditOutcome) async -> HTTPResponse {
        let isVisible: Bool
        if let revision = outcome.revision {
            isVisible = await places.waitUntilServed(revision, atMost: Self.visibleTime)
        } else {
            isVisible = true
        }
        var response =
            outcome.place.map(Self.response) ?? HTTPResponse(.noContent, headers: [.cacheControl: "no-store"])
        if !isVisible { response.headers.add(Self.visible, "no") }
        return response
    }

    private static let fields: HTTPHeaders = [.contentType: MediaType.json, .cacheControl: "no-store"]

    private static func response(_ place: EditedPlace) -> HTTPResponse {
        var headers = fields
        headers.add(.eTag, "\"\(place.version)\"")
        return HTTPResponse(.ok, headers: headers, body: place.json)
    }

    // MARK: The request

    private static func id(_ context: RequestContext) throws(EditError) -> Int64 {
        guard let id = Int(placeID: context.pathParameter("id") ?? "") else { throw .notFound }
        return Int64(id)
    }

    /// Checks what has nothing to do with the place.
    private func check(_ request: HTTPRequest, content: String?) throws {
        try WriteCheck.check(request, content: content, ignoring: ignoredParameters)
    }

    /// The versions that an edit has to name; nil for whatever there is.
    private static func requiredVersions(_ request: HTTPRequest) throws(HTTPError) -> [Int64]? {
        guard request.headers.contains(.ifMatch) else { throw preconditionRequired }
        return try expectedVersions(request)
    }

    /// The versions that `If-Match` names, by strong comparison (RFC 9110, section 13.1.1); nil for any, and without the field.
    private static func expectedVersions(_ request: HTTPRequest) throws(HTTPError) -> [Int64]? {
        guard request.headers.contains(.ifMatch) else { return nil }
        let tags = request.headers.all(.ifMatch).flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
        guard tags.count <= 20 else { throw .preconditionFailed }
        var versions: [Int64] = []
        for tag in tags {
            let tag = tag.filter { $0 != 0x20 && $0 != 0x09 }
            if tag.elementsEqual("*".utf8) { return nil }
            // Tags are compared byte by byte: "07" isn't that of version 7.
            guard let version = Int64(String(decoding: tag.dropFirst().dropLast(), as: UTF8.self)),
                version >= 0,
                tag.elementsEqual("\"\(version)\"".utf8)
            else { continue }
            versions.append(version)
        }
        // No place has a negative version: a tag that isn't ours is that of no version.
        return versions.isEmpty ? [-1] : versions
    }

    private static func key(_ request: HTTPRequest) throws(HTTPError) -> PlaceEdit.Key? {
        let fields = request.headers.all(idempotencyKey)
        guard let field = fields.first else { return nil }
        var text = Array(field.utf8)
        if text.count > 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") {
            text = Array(text.dropFirst().dropLast())
        }
        guard fields.count == 1, (1...255).contains(text.count),
            text.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw HTTPError(
                .badRequest, .malformedRequest,
                "Idempotency-Key has to be given once, and has 1 to 255 visible characters of ASCII.")
        }
        let content = Array("\(request.method.rawValue) \(request.path)\n".utf8) + request.body
        return PlaceEdit.Key(
            text: String(decoding: text, as: UTF8.self), digest: SHA256.digest(of: content).hexadecimal)
    }
}

extension HTTPResponse {
    /// A page of what editors see.
    ///
    /// - Parameters:
    ///   - items: JSON of each.
    ///   - next: where the next page is; relative to the request's path, whatever a proxy has in front of it.
    static func page(of items: [[UInt8]], next: String?) -> HTTPResponse {
        var writer = JSONWriter(capacity: 2 + items.reduce(0) { $0 + $1.count + 1 })
        writer.beginArray()
        for item in items { writer.value(json: item[...]) }
        writer.endArray()
        var response = HTTPResponse(
            .ok, headers: [.contentType: MediaType.json, .cacheControl: "no-store"], body: writer.bytes)
        if let next { response.addLink(Array("<\(next)>; rel=\"next\"".utf8)) }
        return response
    }
}

/// The limits of editing and reporting, which the loops of a process share.
package struct EditingLimits: Sendable {
    let requests: RateLimiting
    /// Counts tries with keys that aren't editors'.
    let failedTries: RateLimiting
    let reports: RateLimiting

    private static let triesPerMinute = RateLimit(count: 10, periodSeconds: 60)

    package init(_ configuration: ServiceConfiguration) {
        let clients = ClientIdentification(trustedProxies: configuration.access.trustedProxies)
        requests = RateLimiting(
            limiter: RateLimiter(configuration.editing.rateLimit), identification: clients)
        failedTries = RateLimiting(limiter: RateLimiter(Self.triesPerMinute), identification: clients)
        reports = RateLimiting(limiter: RateLimiter(ReportLimit.limit), identification: clients)
    }
}

/// Refuses requests of who may not edit, at their head.
struct EditorRequirement: HTTPRequestCheck {
    let access: EditingAccess
    /// Those who may read.
    let readers: KeyRequirement
    let limits: EditingLimits

    private static let notAnEditor = HTTPError(
        .forbidden, .notAnEditor, "This key is for reading places, and not an editor's.")
    private static let foreignOrigin = HTTPError(
        .forbidden, .notAnEditor, "Pages of this origin may not edit places.")

    func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) {
        if let refusal = limits.requests.refusal(of: request, context) { throw refusal }
        guard !access.isForeign(request) else { throw Self.foreignOrigin }
        let isKnown = access.editor(of: request, context) != nil
        guard isKnown || KeyRequirement.token(of: request) != nil else { throw KeyRequirement.unauthorized }
        if let refusal = limits.failedTries.refusal(of: request, context, counts: false) { throw refusal }
        guard !isKnown else { return }
        _ = limits.failedTries.refusal(of: request, context)
        throw readers.has(request) ? Self.notAnEditor : KeyRequirement.invalidToken
    }
}
