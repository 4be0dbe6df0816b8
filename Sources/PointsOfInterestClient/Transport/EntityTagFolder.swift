import Foundation

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
