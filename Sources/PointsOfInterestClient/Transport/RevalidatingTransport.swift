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
    private static let varyingFields = ["Accept", "Accept-Language", "Authorization"]

    func send(_ request: URLRequest) async throws(RequestError) -> Answer {
        guard let key = Self.key(of: request) else { return try await base.send(request) }
        let kept = await store.answer(for: key)
        var conditional = request
        if let kept { conditional.setValue(kept.entityTag, forHTTPHeaderField: "If-None-Match") }
        let answer = try await base.send(conditional)
        if answer.head.status == 304, let kept {
            return Answer(head: kept.head, body: kept.body)
        }
        if answer.head.status == 200, let entityTag = answer.head.value(forField: "ETag") {
            await store.keep(
                TaggedAnswer(entityTag: entityTag, head: answer.head, body: answer.body), for: key)
        }
        return answer
    }

    /// Nil where an answer isn't to be kept: for other methods, and where the request has a condition of its own.
    private static func key(of request: URLRequest) -> EntityTagKey? {
        guard request.httpMethod ?? "GET" == "GET", let url = request.url,
            request.value(forHTTPHeaderField: "If-None-Match") == nil
        else { return nil }
        var fields: [String: String] = [:]
        for name in varyingFields { fields[name] = request.value(forHTTPHeaderField: name) }
        return EntityTagKey(url: url, fields: fields)
    }
}
