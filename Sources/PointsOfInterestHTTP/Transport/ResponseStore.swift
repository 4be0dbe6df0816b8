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

    /// Drops the responses, also those to searches, whose bodies are no longer true.
    func drop(where isWrong: @Sendable (Data) -> Bool) {
        for place in places(like: nil) {
            if let response = response(at: place, where: { _ in true }), isWrong(response.body) {
                drop(place)
            }
        }
        for key in searches.keys(like: nil) {
            if let response = searches[key], isWrong(response.body) { searches.remove(key) }
        }
    }

    /// Returns the response that is kept for a request, if there is one. That doesn't count as a use.
    func response(for key: ResponseKey) -> TaggedResponse? {
        if key.isSearch { return searches[key] }
        return folder?.response(for: key) ?? recent[key]
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

    /// Drops a response that can't be read, unless another one has taken its place.
    func drop(_ response: TaggedResponse, for key: ResponseKey) {
        guard self.response(for: key)?.body == response.body else { return }
        if key.isSearch {
            searches.remove(key)
        } else {
            folder?.remove(key)
            recent.remove(key)
        }
    }

    /// Returns where the kept responses are, those first that were kept last.
    ///
    /// - Parameter key: only responses to requests that differ from this one in the part of the world at most; nil is all but
    ///   searches.
    func places(like key: ResponseKey?) -> [KeptPlace] {
        if let key, key.isSearch { return searches.keys(like: key).map(KeptPlace.memory) }
        return folder?.places(like: key).map(KeptPlace.file) ?? recent.keys(like: key).map(KeptPlace.memory)
    }

    /// Returns the response at a place, if it is there and its request's URL is wanted. That doesn't count as a use.
    func response(at place: KeptPlace, where isWanted: @Sendable (URL) -> Bool) -> TaggedResponse? {
        switch place {
        case .file(let name): folder?.response(at: name, where: isWanted)
        case .memory(let key): isWanted(key.url) ? searches[key] ?? recent[key] : nil
        }
    }

    /// Notes that a response gave what was looked for.
    func use(_ place: KeptPlace) {
        switch place {
        case .file(let name): folder?.use(name)
        case .memory(let key):
            searches.use(key)
            recent.use(key)
        }
    }

    /// Drops the response at a place, which can't be read.
    func drop(_ place: KeptPlace) {
        switch place {
        case .file(let name): folder?.remove(name)
        case .memory(let key):
            searches.remove(key)
            recent.remove(key)
        }
    }
}

/// Where a store has a response.
enum KeptPlace: Hashable, Sendable {
    /// In memory.
    case memory(ResponseKey)
    /// In a file, by the hash of its request.
    case file(String)
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
}

/// The responses that were used last, in memory.
private struct RecentResponses {
    private struct Entry {
        let response: TaggedResponse
        /// When it was kept and last used, in the order of all uses: the device's clock may go back.
        let kept: Int
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

    subscript(key: ResponseKey) -> TaggedResponse? { entries[key]?.response }

    /// The keys of the responses, those first that were kept last.
    func keys(like key: ResponseKey?) -> [ResponseKey] {
        let parts = key?.partsWithoutPlace
        return entries.filter { parts == nil || $0.key.partsWithoutPlace == parts }
            .sorted { $0.value.kept > $1.value.kept }.map(\.key)
    }

    mutating func keep(_ response: TaggedResponse, for key: ResponseKey) {
        remove(key)
        guard response.body.count <= maximumByteCount, maximumCount > 0 else { return }
        useCount += 1
        entries[key] = Entry(response: response, kept: useCount, lastUse: useCount)
        byteCount += response.body.count
        while entries.count > maximumCount || byteCount > maximumByteCount,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            remove(oldest.key)
        }
    }

    mutating func use(_ key: ResponseKey) {
        useCount += 1
        entries[key]?.lastUse = useCount
    }

    mutating func remove(_ key: ResponseKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.response.body.count
    }

    mutating func removeAll() {
        entries = [:]
        byteCount = 0
    }
}
