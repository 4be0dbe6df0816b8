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

/// Keeps answers by the tags that the service gave them, so that what hasn't changed isn't sent again.
///
/// In the place of `URLCache`, which neither stores nor revalidates on Linux, and which would answer with the
/// distances of a moment ago. Calls may come from any task; an answer may be forgotten at any time.
public protocol EntityTagStore: Sendable {
    /// The answer kept for a request, if there is one.
    func answer(for key: EntityTagKey) async -> TaggedResponse?

    /// Keeps an answer in the place of the one before.
    func keep(_ answer: TaggedResponse, for key: EntityTagKey) async
}

/// What tells apart requests that have answers of their own.
public struct EntityTagKey: Hashable, Sendable {
    /// The request's URL.
    public let url: URL
    /// The fields that the answer may depend on, such as `Accept` and `Authorization`. They may hold a secret:
    /// a store that writes keys down writes a digest of them.
    public let fields: [String: String]

    /// Makes a key.
    public init(url: URL, fields: [String: String] = [:]) {
        self.url = url
        self.fields = fields
    }
}

/// An answer and the tag by which the service knows it (RFC 9110, section 8.8.3).
public struct TaggedResponse: Hashable, Sendable {
    /// The entity tag as it came, quotes and weakness included.
    public let entityTag: String
    /// The answer's head.
    public let head: ResponseHead
    /// The answer's body.
    public let body: Data

    /// Makes an answer to keep.
    public init(entityTag: String, head: ResponseHead, body: Data) {
        self.entityTag = entityTag
        self.head = head
        self.body = body
    }
}

/// Keeps answers in memory: the latest used, up to a number and a size.
public actor MemoryEntityTagStore: EntityTagStore {
    private struct Entry {
        let answer: TaggedResponse
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
    ///   - maximumCount: the most answers to keep.
    ///   - maximumByteCount: the most bytes of their bodies in sum.
    public init(maximumCount: Int = 100, maximumByteCount: Int = 4 << 20) {
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }

    /// The answer kept for a request, which is then the latest used.
    public func answer(for key: EntityTagKey) -> TaggedResponse? {
        useCount += 1
        entries[key]?.lastUse = useCount
        return entries[key]?.answer
    }

    /// Keeps an answer, and forgets those that were not used for longest where there are too many. One that is
    /// larger than all may be in sum is not kept.
    public func keep(_ answer: TaggedResponse, for key: EntityTagKey) {
        remove(key)
        guard answer.body.count <= maximumByteCount, maximumCount > 0 else { return }
        useCount += 1
        entries[key] = Entry(answer: answer, lastUse: useCount)
        byteCount += answer.body.count
        while entries.count > maximumCount || byteCount > maximumByteCount,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            remove(oldest.key)
        }
    }

    private func remove(_ key: EntityTagKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.answer.body.count
    }
}
