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
            let count = disk.write(descriptor, rest)
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
    /// Another queue, of this process or another one, has the folder. A process makes one queue and shares it; another
    /// process, such as an app's extension, needs a folder of its own.
    case inUse
    /// A system call on the folder or a file in it failed; `code` is its `errno`.
    case file(operation: String, code: Int32)
}

extension EventQueueError: CustomStringConvertible {
    /// A sentence for developers; people read `localizedDescription`.
    public var description: String {
        switch self {
        case .inUse:
            """
            Another event queue has this folder open, in this process or in another one. Make one queue for each process \
            and share it there; another process, such as an app's extension, needs a folder of its own.
            """
        case .file(let operation, let code): "\(operation): \(String(cString: strerror(code)))."
        }
    }
}

/// A queue's operations on its folder and files that differ between platforms, or that a test replaces.
struct QueueDisk: Sendable {
    /// Waits until the file of a descriptor is on the disk.
    var synchronize: FileSync = { QueueDisk.synchronize($0, command: QueueDisk.fullSync) }
    /// Writes bytes to a descriptor, write(2): returns how many, or -1 and the reason in `errno`.
    var write: @Sendable (_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Int = {
        Foundation.write($0, Array($1), $1.count)
    }
    /// Keeps a folder out of backups, and unreadable until the device was first unlocked.
    var protect: @Sendable (URL) throws -> Void = { try QueueDisk.protect($0) }

    /// The command of fcntl(2) that reaches the disk itself; nil where fsync(2) does.
    ///
    /// On Apple's platforms fsync(2) only moves data to the drive, which "may not physically write the data to the
    /// platters for quite some time"; its manual page names `F_FULLFSYNC` for what has to survive a power failure.
    private static var fullSync: Int32? {
        #if canImport(Darwin)
            F_FULLFSYNC
        #else
            nil
        #endif
    }

    /// Synchronizes by a command of fcntl(2), or by fsync(2) where the file system doesn't support the command.
    ///
    /// - Parameters:
    ///   - descriptor: the file or folder.
    ///   - command: the command; nil for fsync(2) alone.
    ///   - fcntl: fcntl(2), or a test's stand-in.
    ///   - fsync: fsync(2), or a test's stand-in.
    /// - Returns: 0, or another number and the reason in `errno`.
    static func synchronize(
        _ descriptor: Int32, command: Int32?,
        fcntl: (_ descriptor: Int32, _ command: Int32) -> Int32 = { Foundation.fcntl($0, $1) },
        fsync: FileSync = { Foundation.fsync($0) }
    ) -> Int32 {
        guard let command else { return fsync(descriptor) }
        let result = fcntl(descriptor, command)
        // fcntl(2) lists the file systems that have F_FULLFSYNC. Others refuse it with one of these: SMB with ENOTSUP,
        // FUSE with EINVAL.
        guard result < 0, [ENOTSUP, EINVAL, ENOTTY].contains(errno) else { return min(result, 0) }
        return fsync(descriptor)
    }

    /// Sets the properties of a folder that only Apple's platforms know; elsewhere Foundation ignores them. New files in
    /// the folder get its protection.
    private static func protect(_ folder: URL) throws {
        var folder = folder
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try folder.setResourceValues(values)
        // Not a stricter protection: events are also tracked and sent in the background, on a locked device.
        try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
            ofItemAtPath: folder.path)
    }
}
