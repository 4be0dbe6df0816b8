import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
        if let kept {
            var conditional = request
            conditional.setValue(kept.entityTag, forHTTPHeaderField: "If-None-Match")
            let outcome = try await base.send(conditional)
            if let current = Self.current(kept, after: outcome) { return current }
            // A 304 for another tag than the one that was sent: we don't have that response.
            response = outcome.head.status == 304 ? try await base.send(request) : outcome
        } else {
            response = try await base.send(request)
        }
        if let tagged = TaggedResponse(keeping: response) { await store.keep(tagged, for: key) }
        return response
    }

    /// Returns the kept response, with the newer header fields, where the outcome says that it is still valid.
    private static func current(_ kept: TaggedResponse, after outcome: Response) -> Response? {
        guard outcome.head.status == 304 else { return nil }
        if let entityTag = outcome.head.value(forField: "ETag"), !isSame(entityTag, kept.entityTag) {
            return nil
        }
        return Response(head: kept.head.updated(with: outcome.head), body: kept.body)
    }

    /// Compares two tags weakly (RFC 9110, section 8.8.3.2).
    private static func isSame(_ one: String, _ other: String) -> Bool {
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return opaque(one) == opaque(other)
    }

    /// Returns nil where the response mustn't be kept: for other methods than `GET`, and where the request has a
    /// condition or a range of its own.
    private static func key(of request: URLRequest) -> EntityTagKey? {
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
    /// Fails for a response whose status isn't 200, that has no tag or mustn't be stored (RFC 9111, section 3).
    fileprivate init?(keeping response: Response) {
        guard response.head.status == 200, let entityTag = response.head.value(forField: "ETag"),
            response.head.value(forField: "Cache-Control")?.lowercased().contains("no-store") != true
        else { return nil }
        self.init(entityTag: entityTag, head: response.head, body: response.body)
    }
}

/// Keeps responses with their entity tags, so that one that hasn't changed isn't sent again.
///
/// This replaces `URLCache`, which neither stores nor revalidates on Linux, and which elsewhere would return the
/// distances of a moment ago. Any task may call it; it may drop a response at any time.
package protocol EntityTagStore: Sendable {
    /// Returns the response that is kept for a request, if there is one.
    func response(for key: EntityTagKey) async -> TaggedResponse?

    /// Keeps a response in place of an earlier one.
    func keep(_ response: TaggedResponse, for key: EntityTagKey) async
}

/// Identifies a request whose response is kept.
package struct EntityTagKey: Hashable, Sendable {
    /// The request's URL.
    package let url: URL
    /// The header fields that the response may depend on, such as `Accept` and `Authorization`; may be secret.
    package let fields: [String: String]

    package init(url: URL, fields: [String: String] = [:]) {
        self.url = url
        self.fields = fields
    }
}

/// A response with its entity tag (RFC 9110, section 8.8.3).
package struct TaggedResponse: Hashable, Sendable {
    /// The entity tag as it was sent, with quotes and `W/`.
    package let entityTag: String
    package let head: ResponseHead
    package let body: Data

    package init(entityTag: String, head: ResponseHead, body: Data) {
        self.entityTag = entityTag
        self.head = head
        self.body = body
    }
}

/// Keeps the responses that were used last in memory, up to a number and a size.
package actor MemoryEntityTagStore: EntityTagStore {
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
    package init(maximumCount: Int = 100, maximumByteCount: Int = 4 << 20) {
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }

    package func response(for key: EntityTagKey) -> TaggedResponse? {
        useCount += 1
        entries[key]?.lastUse = useCount
        return entries[key]?.response
    }

    /// Keeps a response, and drops the ones that weren't used for the longest time where there are too many. A
    /// response that is larger than the store isn't kept.
    package func keep(_ response: TaggedResponse, for key: EntityTagKey) {
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

    private func remove(_ key: EntityTagKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.response.body.count
    }
}
