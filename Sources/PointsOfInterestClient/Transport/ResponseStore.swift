import Foundation

/// Keeps the responses that were used last, so that one that hasn't changed isn't sent again, and so that the last places can
/// be shown at once and without a network.
///
/// They are kept in memory, or in a folder, where they are after the app's next start, too. Responses to searches are kept in
/// memory only, the last twenty and beside the others: typing takes no other response's place, and no search text gets to the
/// disk.
///
/// In a folder, each response is a file that appears by a rename, so whenever the app is killed, there is the old response or
/// the new one. Several processes may use one folder. Only the user can read the files (mode 0600). On Apple's platforms they
/// are also protected until the device is unlocked for the first time after its start, and excluded from backups. A file that
/// is damaged, or that another version wrote, is ignored and removed.
///
/// The files contain responses, which tell where the user has been, but nothing of `Authorization` and `Cookie`. So a folder
/// doesn't tell users apart. A response that was kept for one user is used for another, but only if the service says so by a
/// 304, or without a network; `removeAll()` drops it.
///
/// It replaces `URLCache`, which neither stores nor revalidates on Linux, and which elsewhere would return the distances of a
/// moment ago. Any task may call it; with a folder its methods take as long as the disk does.
public actor ResponseStore {
    /// How many responses to searches are kept, and how many bytes of their bodies.
    private static let searchLimits = (count: 20, bytes: 1 << 20)

    private var recent: RecentResponses
    private var searches = RecentResponses(
        maximumCount: searchLimits.count, maximumByteCount: searchLimits.bytes)
    private var folder: ResponseFolder?

    /// Makes an empty store in memory.
    ///
    /// - Parameters:
    ///   - maximumCount: the maximum number of responses.
    ///   - maximumByteCount: the maximum number of bytes of all their bodies.
    public init(maximumCount: Int = 100, maximumByteCount: Int = 4 << 20) {
        recent = RecentResponses(maximumCount: maximumCount, maximumByteCount: maximumByteCount)
    }

    /// Opens the store of a folder, and makes the folder if there is none.
    ///
    /// - Parameters:
    ///   - directory: a folder of the app's own, best in its caches. Files of other names are left alone.
    ///   - maximumCount: the maximum number of responses.
    ///   - maximumByteCount: the maximum number of bytes of their files, which are larger than the bodies by a third.
    /// - Throws: `CocoaError` where the folder can't be made or read: before the device is unlocked for the first time,
    ///   for instance.
    public init(directory: URL, maximumCount: Int = 100, maximumByteCount: Int = 8 << 20) throws {
        recent = RecentResponses(maximumCount: 0, maximumByteCount: 0)
        folder = try ResponseFolder(
            directory: directory, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
    }

    /// Drops all responses, when a user signs out for instance.
    public func removeAll() {
        recent.removeAll()
        searches.removeAll()
        folder?.removeAll()
    }

    /// Returns the response that is kept for a request, if there is one.
    func response(for key: ResponseKey) -> TaggedResponse? {
        if key.isSearch { return searches.response(for: key) }
        return folder?.response(for: key) ?? recent.response(for: key)
    }

    /// Keeps a response in place of an earlier one, and drops the ones that weren't used for the longest time where there are
    /// too many. A response that is larger than the store isn't kept, nor one that can't be written.
    func keep(_ response: TaggedResponse, for key: ResponseKey) {
        if key.isSearch {
            searches.keep(response, for: key)
        } else if folder != nil {
            folder?.keep(response, for: key)
        } else {
            recent.keep(response, for: key)
        }
    }

    /// Returns the kept responses whose URLs are wanted, those first that were received last.
    ///
    /// - Parameters:
    ///   - key: only responses to requests that differ from this one in the part of the world at most; nil is all but searches.
    ///   - maximumCount: how many are needed at most.
    ///   - isWanted: is called with the URLs of requests.
    func newestResponses(
        like key: ResponseKey?, maximumCount: Int, where isWanted: @Sendable (URL) -> Bool
    ) -> [TaggedResponse] {
        if let key, key.isSearch {
            return searches.newestResponses(like: key, maximumCount: maximumCount, where: isWanted)
        }
        return folder?.newestResponses(like: key, maximumCount: maximumCount, where: isWanted)
            ?? recent.newestResponses(like: key, maximumCount: maximumCount, where: isWanted)
    }
}

/// Identifies a request whose response is kept.
struct ResponseKey: Hashable {
    /// The request's URL.
    let url: URL
    /// The header fields that the response may depend on, such as `Accept` and `Authorization`; may be secret.
    let fields: [String: String]

    init(url: URL, fields: [String: String] = [:]) {
        self.url = url
        self.fields = fields
    }

    /// Whether the request has a search text.
    var isSearch: Bool { items.contains { $0.hasPrefix("q=") } }

    /// What requests have in common that differ in the part of the world, in keys and in languages of the device at most.
    var partsWithoutPlace: [String] {
        let names: Set = ["lat", "long", "bbox", "zoom"]
        return [endpoint, fields["Accept"] ?? ""]
            + items.filter { !names.contains(String($0.prefix { $0 != "=" })) }.map(String.init)
    }

    /// The key without the credentials: `Authorization`, `Cookie`, and a name and password in the URL.
    var partsWithoutSecrets: [String] {
        let open = fields.filter { !["Authorization", "Cookie"].contains($0.key) }.sorted { $0.key < $1.key }
        return [url.withoutUser?.absoluteString ?? ""] + open.flatMap { [$0.key, $0.value] }
    }

    private var parts: [Substring] {
        (url.withoutUser?.absoluteString ?? "").split(separator: "?", maxSplits: 1)
    }

    /// The URL without its query, and without a name and password.
    var endpoint: String { String(parts.first ?? "") }

    private var items: [Substring] { parts.dropFirst().flatMap { $0.split(separator: "&") } }
}

/// A response with its entity tag (RFC 9110, section 8.8.3).
struct TaggedResponse: Hashable, Codable {
    /// The entity tag as it was sent, with quotes and `W/`.
    let entityTag: String
    /// The status and the header fields, and when the response was received or last found to be valid.
    let head: ResponseHead
    /// The body.
    let body: Data

    /// In which order the newest come first.
    var age: TimeInterval { -(head.receivedAt ?? .distantPast).timeIntervalSinceReferenceDate }
}

/// The responses that were used last, in memory.
private struct RecentResponses {
    private struct Entry {
        let response: TaggedResponse
        var lastUse: Int
    }

    let maximumCount: Int
    let maximumByteCount: Int
    private var entries: [ResponseKey: Entry] = [:]
    private var byteCount = 0
    private var useCount = 0

    init(maximumCount: Int, maximumByteCount: Int) {
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }

    mutating func response(for key: ResponseKey) -> TaggedResponse? {
        useCount += 1
        entries[key]?.lastUse = useCount
        return entries[key]?.response
    }

    mutating func keep(_ response: TaggedResponse, for key: ResponseKey) {
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

    mutating func newestResponses(
        like key: ResponseKey?, maximumCount: Int, where isWanted: (URL) -> Bool
    ) -> [TaggedResponse] {
        let parts = key?.partsWithoutPlace
        let found = entries.filter { entry in
            (parts == nil || entry.key.partsWithoutPlace == parts) && isWanted(entry.key.url)
        }
        let newest = found.sorted { $0.value.response.age < $1.value.response.age }.prefix(maximumCount)
        return newest.compactMap { response(for: $0.key) }
    }

    mutating func removeAll() {
        entries = [:]
        byteCount = 0
    }

    private mutating func remove(_ key: ResponseKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.response.body.count
    }
}
