import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Revalidates kept responses: sends the kept entity tag as `If-None-Match`, and after a 304 returns the kept response
/// (RFC 9110, section 13.1.2).
///
/// It keeps nothing by itself: whether a response is worth keeping shows when its body is read.
struct RevalidatingTransport: Transport {
    let base: any Transport
    let store: ResponseStore

    /// The header fields of a request that its response depends on.
    private static let varyingFields = ["Accept", "Accept-Language", "Authorization", "Cookie"]

    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        guard let key = Self.key(of: request) else { return try await base.send(request) }
        let kept = await store.response(for: key)
        var response: ServiceResponse
        // An earlier version of the client may have kept a response with a tag that isn't proper.
        if let kept, kept.hasProperTag {
            var conditional = request
            conditional.setValue(kept.entityTag, forHTTPHeaderField: "If-None-Match")
            let outcome = try await base.send(conditional)
            if let current = Self.current(kept, after: outcome) {
                return ServiceResponse(
                    head: current.head, body: current.body,
                    keeping: ResponseKeeping(store: store, key: key, response: current, isKept: true))
            }
            // A 304 without the tag that was sent is about a response that isn't kept, so the request is sent without a
            // condition.
            response = outcome.head.status == 304 ? try await base.send(request) : outcome
        } else {
            response = try await base.send(request)
        }
        if let tagged = TaggedResponse(keeping: response, to: request) {
            response.keeping = ResponseKeeping(store: store, key: key, response: tagged, isKept: false)
        }
        return response
    }

    /// Returns the kept response, with the newer header fields, where the outcome says that it is still valid.
    private static func current(_ kept: TaggedResponse, after outcome: ServiceResponse) -> TaggedResponse? {
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
    static func key(of request: URLRequest) -> ResponseKey? {
        guard request.httpMethod ?? "GET" == "GET", let url = request.url,
            request.value(forHTTPHeaderField: "If-None-Match") == nil,
            request.value(forHTTPHeaderField: "Range") == nil
        else { return nil }
        var fields: [String: String] = [:]
        for name in varyingFields { fields[name] = request.value(forHTTPHeaderField: name) }
        return ResponseKey(url: url, fields: fields)
    }
}

/// What a store has to do with a response once its body was read.
struct ResponseKeeping: Sendable {
    let store: ResponseStore
    let key: ResponseKey
    let response: TaggedResponse
    /// Whether the body is the kept one: the service has said that it is still valid.
    let isKept: Bool

    /// Keeps the response, which was understood.
    func keep() async { await store.keep(response, for: key) }

    /// Drops what is kept, which can't be read.
    func drop() async { await store.drop(response, for: key) }
}

extension TaggedResponse {
    /// Longer tags aren't kept: in `If-None-Match`, one could make every later request too large for the service.
    private static let maximumTagBytes = 200

    /// Fails for a response whose status isn't 200, that has no proper tag or mustn't be stored (RFC 9111, section 3), and
    /// for one of another media type than was asked for: a network's login page mustn't take a kept response's place.
    fileprivate init?(keeping response: ServiceResponse, to request: URLRequest) {
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
