import Foundation

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
