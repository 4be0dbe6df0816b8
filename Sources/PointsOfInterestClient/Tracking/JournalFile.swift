import Foundation

/// Waits until the file of a descriptor is on the disk. Returns 0, or another number and the reason in `errno`.
typealias FileSync = @Sendable (Int32) -> Int32

/// An open file that is appended to.
final class JournalFile: Sendable {
    let path: String
    private let descriptor: Int32
    private let disk: QueueDisk

    /// Opens a file, and makes it if there is none.
    ///
    /// - Parameters:
    ///   - truncated: whether its content is removed.
    ///   - disk: writes to the file, and waits for the disk.
    init(path: String, truncated: Bool = false, disk: QueueDisk) throws(EventQueueError) {
        self.path = path
        self.disk = disk
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (truncated ? O_TRUNC : 0)
        descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw .system("open \(path)") }
    }

    deinit { close(descriptor) }

    /// Locks this file, for as long as it is open (flock(2)).
    func lock() throws(EventQueueError) {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: throw .inUse
            default: throw .system("lock \(path)")
            }
        }
    }

    /// Unlocks this file.
    func unlock() {
        flock(descriptor, LOCK_UN)
    }

    /// Reads the whole file.
    func read() throws(EventQueueError) -> [UInt8] {
        let length = try size()
        var offset = 0
        var failure: EventQueueError?
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            while offset < length, let start = buffer.baseAddress {
                let result = pread(descriptor, start + offset, length - offset, off_t(offset))
                if result < 0, errno == EINTR { continue }
                if result < 0 { failure = .system("read \(path)") }
                guard result > 0 else { break }
                offset += result
            }
            count = offset
        }
        if let failure { throw failure }
        return bytes
    }

    /// Appends all of the bytes; none if that fails.
    func append(_ bytes: ArraySlice<UInt8>) throws(EventQueueError) {
        let length = try size()
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { disk.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let failure = EventQueueError.system("write \(path)")
                // If this fails too, the file ends with a damaged line, which is skipped when it is read.
                ftruncate(descriptor, off_t(length))
                throw failure
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Removes the file's name; does nothing if that fails.
    func remove() {
        unlink(path)
    }

    /// Removes everything after the first `length` bytes.
    func truncate(to length: Int) throws(EventQueueError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw .system("truncate \(path)") }
    }

    /// Waits until what was appended is on the disk.
    func synchronize() throws(EventQueueError) {
        while disk.synchronize(descriptor) != 0 {
            guard errno == EINTR else { throw .system("fsync \(path)") }
        }
    }

    /// Returns the file's length. It doesn't use `fstat`, which needs a reason in an app's privacy manifest.
    func size() throws(EventQueueError) -> Int {
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else { throw .system("seek \(path)") }
        return Int(end)
    }

    /// Waits until a folder's entries, the names of its files, are on the disk.
    static func synchronizeFolder(_ path: String, disk: QueueDisk) throws(EventQueueError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw .system("open \(path)") }
        defer { close(descriptor) }
        // File systems that don't support this for folders (EINVAL) don't need it.
        guard disk.synchronize(descriptor) == 0 || errno == EINVAL else { throw .system("fsync \(path)") }
    }
}

extension EventQueueError {
    /// Makes the error of the system call that just failed.
    static func system(_ operation: String) -> EventQueueError {
        .file(operation: operation, code: errno)
    }
}

/// Why a queue can't be opened, or its file can't be written.
public enum EventQueueError: Error, Hashable, Sendable {
    /// Another queue, of this process or another one, uses the folder.
    case inUse
    /// A system call on the folder or a file in it failed; `code` is its `errno`.
    case file(operation: String, code: Int32)
}

extension EventQueueError: LocalizedError {
    /// A sentence for developers.
    public var errorDescription: String? {
        switch self {
        case .inUse: "Another event queue uses the folder."
        case .file(let operation, let code): "\(operation): \(String(cString: strerror(code)))."
        }
    }
}
