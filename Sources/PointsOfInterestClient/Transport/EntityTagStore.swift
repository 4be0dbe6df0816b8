import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Keeps responses with their entity tags, so that a response that hasn't changed isn't sent again, and so that the last
/// response can be shown where there is no network.
///
/// This replaces `URLCache`, which neither stores nor revalidates on Linux, and which elsewhere would return the
/// distances of a moment ago. Any task may call it; it may drop a response at any time.
public protocol EntityTagStore: Sendable {
    /// Returns the response that is kept for a request, if there is one.
    func response(for key: EntityTagKey) async -> TaggedResponse?

    /// Keeps a response in place of an earlier one.
    func keep(_ response: TaggedResponse, for key: EntityTagKey) async

    /// Keeps a response again after the service has said that it is still valid. It has the same tag and body, but newer
    /// header fields and a newer `receivedAt`. The default calls `keep(_:for:)`.
    func renew(_ response: TaggedResponse, for key: EntityTagKey) async

    /// Returns the response with the newest `receivedAt` of those for which `EntityTagKey.isSameRequest(as:)` holds.
    func newestResponse(like key: EntityTagKey) async -> TaggedResponse?
}

extension EntityTagStore {
    /// Keeps the response in place of the earlier one.
    public func renew(_ response: TaggedResponse, for key: EntityTagKey) async {
        await keep(response, for: key)
    }
}

/// Identifies a request whose response is kept.
public struct EntityTagKey: Hashable, Sendable {
    /// The request's URL.
    public let url: URL
    /// The header fields that the response may depend on, such as `Accept` and `Authorization`; may be secret.
    public let fields: [String: String]

    /// Makes a key.
    public init(url: URL, fields: [String: String] = [:]) {
        self.url = url
        self.fields = fields
    }

    /// Whether both are the same request but for their centres, keys and languages: their URLs are equal without `lat`
    /// and `long`, and so are their `Accept` fields.
    public func isSameRequest(as other: EntityTagKey) -> Bool {
        partsWithoutCenter == other.partsWithoutCenter
    }

    /// What `isSameRequest(as:)` compares.
    var partsWithoutCenter: [String] {
        let parts = (url.withoutUser?.absoluteString ?? "").split(separator: "?", maxSplits: 1)
        let items = parts.dropFirst().joined().split(separator: "&")
            .filter { !$0.hasPrefix("lat=") && !$0.hasPrefix("long=") }
        return [String(parts.first ?? ""), fields["Accept"] ?? ""] + items.map(String.init)
    }

    /// The key without the credentials: `Authorization`, `Cookie`, and a name and password in the URL.
    var partsWithoutSecrets: [String] {
        let open = fields.filter { !["Authorization", "Cookie"].contains($0.key) }.sorted { $0.key < $1.key }
        return [url.withoutUser?.absoluteString ?? ""] + open.flatMap { [$0.key, $0.value] }
    }
}

/// A response with its entity tag (RFC 9110, section 8.8.3).
public struct TaggedResponse: Hashable, Sendable, Codable {
    /// The entity tag as it was sent, with quotes and `W/`.
    public let entityTag: String
    /// The status and the header fields, and when the response was received or last found to be valid.
    public let head: ResponseHead
    /// The body.
    public let body: Data

    /// Makes a response.
    public init(entityTag: String, head: ResponseHead, body: Data) {
        self.entityTag = entityTag
        self.head = head
        self.body = body
    }
}

/// Keeps the responses that were used last in memory, up to a number and a size.
public actor MemoryEntityTagStore: EntityTagStore {
    private struct Entry {
        let response: TaggedResponse
        var lastUse: Int
    }

    private let maximumCount: Int
    private let maximumByteCount: Int
    private var entries: [EntityTagKey: Entry] = [:]
    private var byteCount = 0
    private var useCount = 0

    /// Makes an empty store.
    ///
    /// - Parameters:
    ///   - maximumCount: the maximum number of responses.
    ///   - maximumByteCount: the maximum number of bytes of all their bodies.
    public init(maximumCount: Int = 100, maximumByteCount: Int = 4 << 20) {
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }

    /// Returns the response that is kept for a request, if there is one.
    public func response(for key: EntityTagKey) -> TaggedResponse? {
        useCount += 1
        entries[key]?.lastUse = useCount
        return entries[key]?.response
    }

    /// Keeps a response, and drops the ones that weren't used for the longest time where there are too many. A
    /// response that is larger than the store isn't kept.
    public func keep(_ response: TaggedResponse, for key: EntityTagKey) {
        remove(key)
        guard response.body.count <= maximumByteCount, maximumCount > 0 else { return }
        useCount += 1
        entries[key] = Entry(response: response, lastUse: useCount)
        byteCount += response.body.count
        while entries.count > maximumCount || byteCount > maximumByteCount,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            remove(oldest.key)
        }
    }

    /// Returns the newest response to the same request, whatever its centre.
    public func newestResponse(like key: EntityTagKey) -> TaggedResponse? {
        let newest = entries.filter { $0.key.isSameRequest(as: key) }.max { one, other in
            (one.value.response.head.receivedAt ?? .distantPast)
                < (other.value.response.head.receivedAt ?? .distantPast)
        }
        return newest.flatMap { response(for: $0.key) }
    }

    /// Drops all responses, when a user signs out for instance.
    public func removeAll() {
        entries = [:]
        byteCount = 0
    }

    private func remove(_ key: EntityTagKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.response.body.count
    }
}

/// Keeps responses and revalidates them: sends the kept entity tag as `If-None-Match`, and after a 304 returns the
/// kept response (RFC 9110, section 13.1.2).
struct RevalidatingTransport: Transport {
    let base: any Transport
    let store: any EntityTagStore

    /// The header fields of a request that its response depends on.
    private static let varyingFields = ["Accept", "Accept-Language", "Authorization", "Cookie"]

    func send(_ request: URLRequest) async throws(RequestError) -> Response {
        guard let key = Self.key(of: request) else { return try await base.send(request) }
        let kept = await store.response(for: key)
        let response: Response
        // An earlier version of the client may have kept a response with a tag that isn't proper.
        if let kept, kept.hasProperTag {
            var conditional = request
            conditional.setValue(kept.entityTag, forHTTPHeaderField: "If-None-Match")
            let outcome = try await base.send(conditional)
            if let current = Self.current(kept, after: outcome) {
                await store.renew(current, for: key)
                return Response(head: current.head, body: current.body)
            }
            // A 304 without the tag that was sent is about a response that isn't kept, so the request is sent without a
            // condition.
            response = outcome.head.status == 304 ? try await base.send(request) : outcome
        } else {
            response = try await base.send(request)
        }
        if let tagged = TaggedResponse(keeping: response, to: request) { await store.keep(tagged, for: key) }
        return response
    }

    /// Returns the kept response, with the newer header fields, where the outcome says that it is still valid.
    private static func current(_ kept: TaggedResponse, after outcome: Response) -> TaggedResponse? {
        // A 304 without a tag says nothing about a response that has one (RFC 9111, section 4.3.4).
        guard outcome.head.status == 304, let entityTag = outcome.head.value(forField: "ETag"),
            isSame(entityTag, kept.entityTag)
        else { return nil }
        return TaggedResponse(
            entityTag: kept.entityTag, head: kept.head.updated(with: outcome.head), body: kept.body)
    }

    /// Compares two tags weakly (RFC 9110, section 8.8.3.2).
    private static func isSame(_ one: String, _ other: String) -> Bool {
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return opaque(one) == opaque(other)
    }

    /// Returns the key of a request; nil where its response mustn't be kept: for other methods than `GET`, and where the
    /// request has a condition or a range of its own.
    static func key(of request: URLRequest) -> EntityTagKey? {
        guard request.httpMethod ?? "GET" == "GET", let url = request.url,
            request.value(forHTTPHeaderField: "If-None-Match") == nil,
            request.value(forHTTPHeaderField: "Range") == nil
        else { return nil }
        var fields: [String: String] = [:]
        for name in varyingFields { fields[name] = request.value(forHTTPHeaderField: name) }
        return EntityTagKey(url: url, fields: fields)
    }
}

extension TaggedResponse {
    /// Longer tags aren't kept: in `If-None-Match`, one could make every later request too large for the service.
    private static let maximumTagBytes = 200

    /// Fails for a response whose status isn't 200, that has no proper tag or mustn't be stored (RFC 9111, section 3), and
    /// for one of another media type than was asked for: a network's login page mustn't take a kept response's place.
    fileprivate init?(keeping response: Response, to request: URLRequest) {
        guard response.head.status == 200, let entityTag = response.head.value(forField: "ETag"),
            Self.isEntityTag(entityTag), request.accepts(response.head.mediaType),
            response.head.value(forField: "Cache-Control")?.lowercased().contains("no-store") != true
        else { return nil }
        self.init(entityTag: entityTag, head: response.head, body: response.body)
    }

    /// Whether the tag is one entity tag (RFC 9110, section 8.8.3) that isn't too long.
    fileprivate var hasProperTag: Bool { Self.isEntityTag(entityTag) }

    private static func isEntityTag(_ tag: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        let opaque = tag.utf8.dropFirst(tag.hasPrefix("W/") ? 2 : 0)
        return tag.utf8.count <= maximumTagBytes && opaque.count >= 2 && opaque.first == quote
            && opaque.last == quote
            && opaque.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
    }
}

extension URLRequest {
    /// Whether `Accept` names a media type; true where one of them isn't known.
    fileprivate func accepts(_ mediaType: String?) -> Bool {
        guard let mediaType, let accept = value(forHTTPHeaderField: "Accept")?.lowercased() else {
            return true
        }
        let ranges = accept.split(separator: ",").map { range in
            range.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        }
        return ranges.contains { range in
            range == mediaType || range == "*/*"
                || (range.hasSuffix("/*") && mediaType.hasPrefix(range.dropLast()))
        }
    }
}
