import Foundation

/// The folder of a `FileEntityTagStore`. Another process may rename or remove a file between any two calls.
struct EntityTagFolder {
    private let path: String
    /// What the hashes of this folder begin with, so that equal requests have other names in another folder.
    private let salt: [UInt8]

    private static let saltName = "salt"
    private static let saltLength = 32
    private static let newSuffix = ".new"

    init(directory: URL) throws {
        path = directory.path
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        Self.protect(directory)
        if let salt = try Self.salt(in: path) {
            self.salt = salt
            return
        }
        let new = (0..<Self.saltLength).map { _ in UInt8.random(in: 0...255) }
        guard Self.write(Data(new), path, Self.saltName), let salt = try Self.salt(in: path) else {
            throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO)
        }
        // Read again: if two processes make one at the same time, the last one counts. What the other one writes is
        // never found by a later process, and dropped in the end.
        self.salt = salt
    }

    /// Returns 128 bits of a hash of texts and the salt, in hexadecimal.
    func hash(_ texts: [String]) -> String {
        var message = salt
        for text in texts {
            // With their lengths, so that different texts never make one message.
            message += Array("\(text.utf8.count):".utf8) + Array(text.utf8)
        }
        return SHA256.hash(message).prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            .joined()
    }

    /// The names of the files with responses.
    func names() -> [EntityTagFileName] { files().compactMap { EntityTagFileName($0) } }

    /// A number that is greater than those of all files that were used before.
    func nextUse() -> Int { (names().map(\.use).max() ?? 0) + 1 }

    /// Returns the newest response in the files that `isWanted`, and notes that it was used. Removes damaged files.
    func firstResponse(_ isWanted: (EntityTagFileName) -> Bool) -> TaggedResponse? {
        // Another process may be faster with a file; it doesn't stay so.
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

    /// Writes a file beside its place and renames it, so that it is there as a whole or not at all.
    func write(_ bytes: Data, _ name: String) -> Bool { Self.write(bytes, path, name) }

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

    /// Returns the folder's salt; nil where it has none, or a damaged one.
    private static func salt(in path: String) throws -> [UInt8]? {
        let descriptor = open("\(path)/\(saltName)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            // It is there and can't be read now: another one would make all responses unknown.
            throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO)
        }
        defer { close(descriptor) }
        var salt = [UInt8](repeating: 0, count: saltLength + 1)
        let count = salt.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        return count == saltLength ? Array(salt.prefix(saltLength)) : nil
    }

    private static func write(_ bytes: Data, _ path: String, _ name: String) -> Bool {
        let temporary = "\(path)/\(UUID().uuidString)\(EntityTagFileName.suffix)\(newSuffix)"
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
