import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Asks whether the answer that is kept still holds, and takes that one where it does (RFC 9110,
/// section 13.1.2).
struct RevalidatingTransport: Transport {
    let base: any Transport
    let store: any EntityTagStore

    /// The request's fields by which answers differ.
    private static let varyingFields = ["Accept", "Accept-Language", "Authorization", "Cookie"]

    func send(_ request: URLRequest) async throws(RequestError) -> Answer {
        guard let key = Self.key(of: request) else { return try await base.send(request) }
        let kept = await store.answer(for: key)
        let answer: Answer
        if let kept {
            var conditional = request
            conditional.setValue(kept.entityTag, forHTTPHeaderField: "If-None-Match")
            let outcome = try await base.send(conditional)
            if let current = Self.current(kept, after: outcome) { return current }
            // A 304 for another answer than the one that was asked about: none that we have.
            answer = outcome.head.status == 304 ? try await base.send(request) : outcome
        } else {
            answer = try await base.send(request)
        }
        if let tagged = TaggedResponse(keeping: answer) { await store.keep(tagged, for: key) }
        return answer
    }

    /// The answer that is kept, where the outcome says that it still holds.
    private static func current(_ kept: TaggedResponse, after outcome: Answer) -> Answer? {
        guard outcome.head.status == 304 else { return nil }
        if let entityTag = outcome.head.value(forField: "ETag"), !isSame(entityTag, kept.entityTag) {
            return nil
        }
        return Answer(head: kept.head.updated(with: outcome.head), body: kept.body)
    }

    /// Weak comparison (RFC 9110, section 8.8.3.2).
    private static func isSame(_ one: String, _ other: String) -> Bool {
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return opaque(one) == opaque(other)
    }

    /// Nil where an answer isn't to be kept: for other methods, and where the request has a condition of its own.
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
    /// Nil for an answer that isn't whole and good, has no tag or is not to be stored (RFC 9111, section 3).
    fileprivate init?(keeping answer: Answer) {
        guard answer.head.status == 200, let entityTag = answer.head.value(forField: "ETag"),
            answer.head.value(forField: "Cache-Control")?.lowercased().contains("no-store") != true
        else { return nil }
        self.init(entityTag: entityTag, head: answer.head, body: answer.body)
    }
}
