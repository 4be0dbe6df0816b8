import Foundation

/// Keeps the responses that were used last in a folder, up to a number and a size, so that they are there after the
/// app's next start.
///
/// Each response is a file that appears by a rename, so whenever the app is killed, there is the old response or the new
/// one. Several processes may use one folder. Only the user can read the files (mode 0600). On Apple's platforms they
/// are also protected until the device is unlocked for the first time after its start, and excluded from backups. A
/// file that is damaged, or that another version wrote, is ignored and removed.
///
/// The files contain responses, which tell where the user has been, but nothing of `Authorization` and `Cookie`. So the
/// store doesn't tell users apart. A response that was kept for one user is used for another, but only if the service
/// says so by a 304, or without a network; `removeAll()` drops it.
///
/// Its methods read and write files, and so take as long as the disk does.
public actor FileEntityTagStore: EntityTagStore {
    private let folder: EntityTagFolder
    private let maximumCount: Int
    private let maximumByteCount: Int

    /// Opens the store of a folder, and makes the folder if there is none.
    ///
    /// - Parameters:
    ///   - directory: a folder of the app's own, best in its caches. Files of other names are left alone.
    ///   - maximumCount: the maximum number of responses.
    ///   - maximumByteCount: the maximum number of bytes of their files, which are larger than the bodies by a third.
    /// - Throws: `CocoaError` where the folder can't be made or read: before the device is unlocked for the first time,
    ///   for instance.
    public init(directory: URL, maximumCount: Int = 100, maximumByteCount: Int = 8 << 20) throws {
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
        folder = try EntityTagFolder(directory: directory)
        folder.removeLeftovers()
        folder.shrink(toCount: maximumCount, byteCount: maximumByteCount)
    }

    /// Returns the response that is kept for a request, if there is one.
    public func response(for key: EntityTagKey) -> TaggedResponse? {
        let hash = Self.hash(key.partsWithoutSecrets)
        return folder.firstResponse { $0.key == hash }
    }

    /// Keeps a response, and drops the ones that weren't used for the longest time where there are too many. A
    /// response that is larger than the store isn't kept, nor one that can't be written.
    public func keep(_ response: TaggedResponse, for key: EntityTagKey) {
        let hash = Self.hash(key.partsWithoutSecrets)
        let earlier = folder.names().filter { $0.key == hash }
        let bytes = EntityTagEntry(key: hash, response: response.withoutSecrets).bytes
        if let bytes, bytes.count <= maximumByteCount, maximumCount > 0 {
            let name = EntityTagFileName(
                request: Self.hash(key.partsWithoutCenter), key: hash, byteCount: bytes.count,
                receivedAt: response.head.receivedAt, use: folder.nextUse())
            guard folder.write(bytes, name.text) else { return }
        }
        for name in earlier { folder.remove(name.text) }
        folder.shrink(toCount: maximumCount, byteCount: maximumByteCount)
    }

    /// Returns the newest response to the same request, whatever its centre.
    public func newestResponse(like key: EntityTagKey) -> TaggedResponse? {
        let hash = Self.hash(key.partsWithoutCenter)
        return folder.firstResponse { $0.request == hash }
    }

    /// Drops all responses, when a user signs out for instance.
    public func removeAll() {
        for name in folder.names() { folder.remove(name.text) }
    }

    private static func hash(_ parts: [String]) -> String {
        // The lengths are included, so that different parts never make the same text.
        String(StableHash.hash(parts.map { "\($0.utf8.count):\($0)" }.joined()), radix: 16)
    }
}

/// The name of a response's file. It has all that is needed to find a response and to drop the oldest. So there is no
/// index that has to agree with the files, and no file's date is read, for which a privacy manifest needs a reason.
struct EntityTagFileName: Hashable {
    static let suffix = ".kept-response"

    /// The hash of the request without its centre.
    let request: String
    /// The hash of the whole request.
    let key: String
    let byteCount: Int
    /// In milliseconds since 1970.
    let receivedAt: Int
    /// Greater than those of all files that were used before.
    var use: Int

    init(request: String, key: String, byteCount: Int, receivedAt: Date?, use: Int) {
        self.request = request
        self.key = key
        self.byteCount = byteCount
        let milliseconds = (receivedAt ?? .distantPast).timeIntervalSince1970 * 1000
        self.receivedAt = Int(min(max(milliseconds, 0), Double(Self.maximum)))
        self.use = use
    }

    /// Reads a name; nil for a name of another form.
    init?(_ text: String) {
        guard text.hasSuffix(Self.suffix) else { return nil }
        let parts = text.dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst(2).compactMap { Int($0) }.filter { (0...Self.maximum).contains($0) }
        guard parts.count == 5, numbers.count == 3 else { return nil }
        (request, key) = (String(parts[0]), String(parts[1]))
        (byteCount, receivedAt, use) = (numbers[0], numbers[1], numbers[2])
        // `Int` also reads "+1", which isn't written in a name.
        guard self.text == text else { return nil }
    }

    var text: String { "\(request)-\(key)-\(byteCount)-\(receivedAt)-\(use)\(Self.suffix)" }

    /// Sums of these don't overflow.
    private static let maximum = 1 << 50
}

/// What is in a response's file: a line with a hash of the rest, which shows whether the file is damaged, and JSON.
struct EntityTagEntry: Codable {
    private static let currentVersion = 1

    private var version = Self.currentVersion
    /// The hash of the request, as in the file's name.
    let key: String
    let response: TaggedResponse

    init(key: String, response: TaggedResponse) {
        self.key = key
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

/// The folder of a `FileEntityTagStore`. Another process may rename or remove a file between any two calls.
struct EntityTagFolder {
    private let path: String

    private static let newSuffix = ".new"

    /// Makes the folder if there is none.
    ///
    /// - Throws: `CocoaError` where it can't be made or read.
    init(directory: URL) throws {
        path = directory.path
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        _ = try FileManager.default.contentsOfDirectory(atPath: path)
        Self.protect(directory)
    }

    /// The names of the files with responses.
    func names() -> [EntityTagFileName] { files().compactMap { EntityTagFileName($0) } }

    /// A number that is greater than those of all files that were used before.
    func nextUse() -> Int { (names().map(\.use).max() ?? 0) + 1 }

    /// Returns the newest response in the files that `isWanted`, and notes that it was used. Removes damaged files.
    func firstResponse(_ isWanted: (EntityTagFileName) -> Bool) -> TaggedResponse? {
        // Another process may rename or remove the file first. A few tries are enough, since it doesn't always win.
        for _ in 0..<8 {
            let newest = names().filter(isWanted).max { ($0.receivedAt, $0.use) < ($1.receivedAt, $1.use) }
            guard var name = newest else { return nil }
            let file = name.text
            guard let bytes = FileManager.default.contents(atPath: "\(path)/\(file)") else { continue }
            guard let entry = EntityTagEntry(bytes: bytes, key: name.key) else {
                remove(file)
                continue
            }
            name.use = nextUse()
            rename("\(path)/\(file)", "\(path)/\(name.text)")
            return entry.response
        }
        return nil
    }

    /// Removes a file, if it is there. Not `removeItem`, which would remove a folder, too.
    func remove(_ name: String) { unlink("\(path)/\(name)") }

    /// Removes files that were being written when a process was killed, and responses' files with names of another
    /// version. If another process writes one right now, its response isn't kept.
    func removeLeftovers() {
        for name in files() {
            let isForeign = name.hasSuffix(EntityTagFileName.suffix) && EntityTagFileName(name) == nil
            if isForeign || name.hasSuffix(EntityTagFileName.suffix + Self.newSuffix) { remove(name) }
        }
    }

    /// Removes the files that weren't used for the longest time, until the others are not too many.
    func shrink(toCount maximumCount: Int, byteCount maximumByteCount: Int) {
        var names = names().sorted { $0.use > $1.use }
        var byteCount = names.reduce(0) { $0 + $1.byteCount }
        while names.count > maximumCount || byteCount > maximumByteCount, let oldest = names.popLast() {
            byteCount -= oldest.byteCount
            remove(oldest.text)
        }
    }

    private func files() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    /// Writes a file beside its place and renames it, so that it is there as a whole or not at all.
    func write(_ bytes: Data, _ name: String) -> Bool {
        let temporary = "\(path)/\(UUID().uuidString)\(EntityTagFileName.suffix)\(Self.newSuffix)"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
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
