import ChildProcesses
import Foundation

/// The two locks on a cluster. The owner's is released by the end of our process, the server's by the end of the server's
/// last process.
struct ClusterLocks {
    let server: FileLock
    private let owner: FileLock

    /// Refuses a folder that a living process owns; waits for the server that a killed one left behind.
    init(takingOver directory: ClusterDirectory) throws {
        guard let owner = try FileLock.acquireIfFree(path: directory.ownerLock) else {
            throw PrivateClusterError.directoryInUse(
                path: directory.path, processID: FileLock.processID(path: directory.ownerLock))
        }
        owner.writeProcessID()
        self.owner = owner
        if let server = try FileLock.acquireIfFree(path: directory.serverLock) {
            self.server = server
        } else {
            // Its supervisor is stopping it already, unless that was killed too.
            directory.signalPostmaster(SIGINT)
            server = try FileLock.acquire(path: directory.serverLock)
        }
    }

    /// Locks a new folder that nobody knows. The owner's lock appears there only once it is taken, since others would
    /// remove the folder as stale.
    init(new directory: ClusterDirectory) throws {
        let temporaryPath = "\(directory.ownerLock).new"
        guard let owner = try FileLock.acquireIfFree(path: temporaryPath),
            let server = try FileLock.acquireIfFree(path: directory.serverLock)
        else { throw PrivateClusterError.directoryInUse(path: directory.path, processID: nil) }
        owner.writeProcessID()
        try check(rename(temporaryPath, directory.ownerLock), "rename \(temporaryPath)")
        self.owner = owner
        self.server = server
    }
}

/// An exclusive `flock(2)` on a file, held as long as any descriptor of this open file lives. A child that inherits the
/// descriptor holds the lock too, also after this process has been killed.
final class FileLock {
    let descriptor: Int32

    /// - Parameter creating: whether the file is made if it is missing; otherwise that is an error.
    static func acquireIfFree(path: String, creating: Bool = true) throws -> FileLock? {
        let lock = try FileLock(path: path, creating: creating)
        return try lock.lock(LOCK_EX | LOCK_NB) ? lock : nil
    }

    static func acquire(path: String, creating: Bool = true) throws -> FileLock {
        let lock = try FileLock(path: path, creating: creating)
        _ = try lock.lock(LOCK_EX)
        return lock
    }

    private init(path: String, creating: Bool) throws {
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creating ? O_CREAT : 0)
        descriptor = try check(open(path, flags, 0o600), "open \(path)")
    }

    /// False when the lock is taken and `operation` doesn't wait.
    private func lock(_ operation: Int32) throws -> Bool {
        while flock(descriptor, operation) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return false
            default: throw SystemCallError("flock", code: errno)
            }
        }
        return true
    }

    /// Replaces the file's content with this process's id, which others show where they find the lock taken.
    func writeProcessID() {
        let text = "\(getpid())\n"
        ftruncate(descriptor, 0)
        pwrite(descriptor, text, text.utf8.count, 0)
    }

    /// The id that the holder of the lock at `path` wrote.
    static func processID(path: String) -> Int32? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        return Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    deinit { close(descriptor) }
}
