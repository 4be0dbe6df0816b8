import Foundation

/// Waits until the disk has all of a descriptor's file; not 0 where that fails, with the reason in `errno`.
typealias FileSync = @Sendable (Int32) -> Int32

/// An open file that is appended to.
final class JournalFile: Sendable {
    let path: String
    private let descriptor: Int32
    private let fsync: FileSync

    /// Opens a file, and makes it if there is none.
    ///
    /// - Parameters:
    ///   - truncated: whether what it holds is forgotten.
    ///   - fsync: fsync(2), or a test's stand-in.
    init(path: String, truncated: Bool = false, fsync: @escaping FileSync) throws(EventQueueError) {
        self.path = path
        self.fsync = fsync
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (truncated ? O_TRUNC : 0)
        descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw .system("open \(path)") }
    }

    deinit { close(descriptor) }

    /// Takes the lock of this file, for as long as it is open (flock(2)).
    func lock() throws(EventQueueError) {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: throw .inUse
            default: throw .system("lock \(path)")
            }
        }
    }

    /// Gives the lock back.
    func unlock() {
        flock(descriptor, LOCK_UN)
    }

    /// All that it holds.
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

    /// Appends all of the bytes, or none.
    func append(_ bytes: [UInt8]) throws(EventQueueError) {
        let length = try size()
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let failure = EventQueueError.system("write \(path)")
                // What stays all the same is a damaged line, no more.
                ftruncate(descriptor, off_t(length))
                throw failure
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Forgets what is behind so many bytes.
    func truncate(to length: Int) throws(EventQueueError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw .system("truncate \(path)") }
    }

    /// Waits until the disk has what was appended.
    func synchronize() throws(EventQueueError) {
        while fsync(descriptor) != 0 {
            guard errno == EINTR else { throw .system("fsync \(path)") }
        }
    }

    /// How long it is. By its end, since what tells more of a file needs a reason in an app's privacy manifest.
    func size() throws(EventQueueError) -> Int {
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else { throw .system("seek \(path)") }
        return Int(end)
    }

    /// Waits until the disk has a folder's entries: which files there are, by which names.
    static func synchronizeFolder(_ path: String, fsync: FileSync) throws(EventQueueError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw .system("open \(path)") }
        defer { close(descriptor) }
        // Not every file system does this for folders; those that don't need it not.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw .system("fsync \(path)") }
    }
}

extension EventQueueError {
    /// The failure of a system call that was just made.
    static func system(_ operation: String) -> EventQueueError {
        .file(operation: operation, code: errno)
    }
}

/// Why a queue can't be opened.
public enum EventQueueError: Error, Hashable, Sendable {
    /// Another process, or another queue of this one, has the folder.
    case inUse
    /// The folder or a file in it can't be made, read or written; `code` is an `errno`.
    case file(operation: String, code: Int32)
}

extension EventQueueError: LocalizedError {
    /// One sentence for a developer.
    public var errorDescription: String? {
        switch self {
        case .inUse: "The folder of the queue of events is in use."
        case .file(let operation, let code): "\(operation): \(String(cString: strerror(code)))."
        }
    }
}
