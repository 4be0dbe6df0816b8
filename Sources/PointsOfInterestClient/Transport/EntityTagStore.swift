import Foundation

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
