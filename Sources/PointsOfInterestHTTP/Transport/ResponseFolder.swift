import Foundation

/// The name of a response's file. It has all that is needed to find a response and to drop the oldest. So there is no
/// index that has to agree with the files, and no file's date is read, for which a privacy manifest needs a reason.
struct ResponseFileName: Hashable {
    static let suffix = ".kept-response"

    /// The hash of the request without the part of the world.
    let group: String
    /// The hash of the whole request.
    let key: String
    let byteCount: Int
    /// When it was kept: greater than all numbers of the files that were kept or used before. It isn't a time, since the
    /// device's clock may go back.
    let kept: Int
    /// When it was used: greater than all numbers of the files that were kept or used before.
    var use: Int

    init(group: String, key: String, byteCount: Int, kept: Int) {
        self.group = group
        self.key = key
        self.byteCount = byteCount
        self.kept = kept
        use = kept
    }

    /// Reads a name; nil for a name of another form.
    init?(_ text: String) {
        guard text.hasSuffix(Self.suffix) else { return nil }
        let parts = text.dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst(2).compactMap { Int($0) }.filter { (0...Self.maximum).contains($0) }
        guard parts.count == 5, numbers.count == 3 else { return nil }
        (group, key) = (String(parts[0]), String(parts[1]))
        (byteCount, kept, use) = (numbers[0], numbers[1], numbers[2])
        // `Int` also reads "+1", which isn't written in a name.
        guard self.text == text else { return nil }
    }

    var text: String { "\(group)-\(key)-\(byteCount)-\(kept)-\(use)\(Self.suffix)" }

    /// Sums of these don't overflow.
    private static let maximum = 1 << 50
}

/// What is in a response's file: a line with a hash of the rest, which shows whether the file is damaged, and JSON.
struct ResponseEntry: Codable {
    private static let currentVersion = 2

    private var version = Self.currentVersion
    /// The hash of the request, as in the file's name.
    let key: String
    /// The URL of the request, without a name and password.
    let url: URL
    let response: TaggedResponse

    init(key: String, url: URL, response: TaggedResponse) {
        self.key = key
        self.url = url
        self.response = response
    }

    /// Reads a file; nil for a damaged one, one of another version, or one that belongs to another request.
    init?(bytes: Data, key: String) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let content = bytes[bytes.index(after: end)...]
        guard bytes[..<end].elementsEqual(Self.digits(of: content).utf8),
            let entry = try? JSONDecoder().decode(Self.self, from: content),
            entry.version == Self.currentVersion, entry.key == key
        else { return nil }
        self = entry
    }

    /// The file's content.
    var bytes: Data? {
        guard let content = try? JSONEncoder().encode(self) else { return nil }
        return Data((Self.digits(of: content) + "\n").utf8) + content
    }

    private static func digits(of content: Data) -> String { String(StableHash.hash(content), radix: 16) }
}

extension TaggedResponse {
    /// The response without what is secret in its head: cookies, and a name and password in its URL.
    fileprivate var withoutSecrets: TaggedResponse {
        TaggedResponse(entityTag: entityTag, head: head.withoutSecrets, body: body)
    }
}

/// The folder of a `ResponseStore`. Another process may rename or remove a file between any two calls.
struct ResponseFolder {
    private let path: String
    private let maximumCount: Int
    private let maximumByteCount: Int
    /// The URLs of requests by the hashes of their keys, as far as they are known: a file is read once to learn that it isn't
    /// wanted. A hash belongs to one URL for ever, so this is never out of date.
    private var urls: [String: URL] = [:]

    private static let newSuffix = ".new"

    /// Makes the folder if there is none, and removes what is too much, or unfinished.
    ///
    /// - Throws: `CocoaError` where it can't be made or read.
    init(directory: URL, maximumCount: Int, maximumByteCount: Int) throws {
        path = directory.path
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        _ = try FileManager.default.contentsOfDirectory(atPath: path)
        Self.protect(directory)
        removeLeftovers()
        shrink()
    }

    func response(for key: ResponseKey) -> TaggedResponse? {
        entry(Self.hash(key.partsWithoutSecrets))?.entry.response
    }

    mutating func keep(_ response: TaggedResponse, for key: ResponseKey) {
        guard let url = key.url.withoutUser else { return }
        let hash = Self.hash(key.partsWithoutSecrets)
        let earlier = names().filter { $0.key == hash }
        let bytes = ResponseEntry(key: hash, url: url, response: response.withoutSecrets).bytes
        if let bytes, bytes.count <= maximumByteCount, maximumCount > 0 {
            let name = ResponseFileName(
                group: Self.hash(key.partsWithoutPlace), key: hash, byteCount: bytes.count, kept: nextUse())
            guard write(bytes, name.text) else { return }
            urls[hash] = url
        }
        for name in earlier { removeFile(name.text) }
        shrink()
    }

    func remove(_ key: ResponseKey) { remove(Self.hash(key.partsWithoutSecrets)) }

    /// Returns the hashes of the requests that have a response, those first that were kept last.
    func places(like key: ResponseKey?) -> [String] {
        let group = key.map { Self.hash($0.partsWithoutPlace) }
        return names().filter { group == nil || $0.group == group }
            .sorted { ($0.kept, $0.use) > ($1.kept, $1.use) }.map(\.key)
    }

    mutating func response(at key: String, where isWanted: (URL) -> Bool) -> TaggedResponse? {
        if let url = urls[key], !isWanted(url) { return nil }
        guard let entry = entry(key)?.entry else { return nil }
        urls[key] = entry.url
        return isWanted(entry.url) ? entry.response : nil
    }

    /// Notes that a response was used.
    func use(_ key: String) {
        for var name in names() where name.key == key {
            let old = name.text
            name.use = nextUse()
            rename("\(path)/\(old)", "\(path)/\(name.text)")
        }
    }

    func remove(_ key: String) {
        for name in names() where name.key == key { removeFile(name.text) }
    }

    func removeAll() {
        for name in names() { removeFile(name.text) }
    }
}

extension ResponseFolder {
    private static func hash(_ parts: [String]) -> String {
        // The lengths are included, so that different parts never make the same text.
        String(StableHash.hash(parts.map { "\($0.utf8.count):\($0)" }.joined()), radix: 16)
    }

    /// The names of the files with responses.
    private func names() -> [ResponseFileName] { files().compactMap { ResponseFileName($0) } }

    private func files() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    /// A number that is greater than those of all files that were used before.
    private func nextUse() -> Int { (names().map(\.use).max() ?? 0) + 1 }

    /// Returns what is kept for a request, and where. Removes damaged files.
    private func entry(_ key: String) -> (entry: ResponseEntry, name: ResponseFileName)? {
        // Another process may rename or remove the file first. A few tries are enough, since it doesn't always win.
        for _ in 0..<8 {
            let newest = names().filter { $0.key == key }
                .max { ($0.kept, $0.use) < ($1.kept, $1.use) }
            guard let name = newest else { return nil }
            guard let bytes = FileManager.default.contents(atPath: "\(path)/\(name.text)") else { continue }
            if let entry = ResponseEntry(bytes: bytes, key: key) { return (entry, name) }
            removeFile(name.text)
        }
        return nil
    }

    /// Removes a file, if it is there. Not `removeItem`, which would remove a folder, too.
    private func removeFile(_ name: String) { unlink("\(path)/\(name)") }

    /// Removes files that were being written when a process was killed, and responses' files with names of another
    /// version. If another process writes one right now, its response isn't kept.
    private func removeLeftovers() {
        for name in files() {
            let isForeign = name.hasSuffix(ResponseFileName.suffix) && ResponseFileName(name) == nil
            if isForeign || name.hasSuffix(ResponseFileName.suffix + Self.newSuffix) { removeFile(name) }
        }
    }

    /// Removes the files that weren't used for the longest time, until the others are not too many.
    private func shrink() {
        var names = names().sorted { $0.use > $1.use }
        var byteCount = names.reduce(0) { $0 + $1.byteCount }
        while names.count > maximumCount || byteCount > maximumByteCount, let oldest = names.popLast() {
            byteCount -= oldest.byteCount
            removeFile(oldest.text)
        }
    }

    /// Writes a file beside its place and renames it, so that it is there as a whole or not at all.
    private func write(_ bytes: Data, _ name: String) -> Bool {
        let temporary = "\(path)/\(UUID().uuidString)\(ResponseFileName.suffix)\(Self.newSuffix)"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, Array(rest), rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        close(descriptor)
        guard rest.isEmpty, rename(temporary, "\(path)/\(name)") == 0 else {
            unlink(temporary)
            return false
        }
        return true
    }

    /// Protects a folder, whose new files inherit that, and excludes it from backups.
    private static func protect(_ directory: URL) {
        #if canImport(Darwin)
            // Both may fail, on a volume that doesn't support them for instance.
            try? FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                ofItemAtPath: directory.path)
            var directory = directory
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? directory.setResourceValues(values)
        #endif
    }
}
