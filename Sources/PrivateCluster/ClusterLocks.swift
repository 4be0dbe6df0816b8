import ChildProcesses
import Foundation

/// The two locks on a cluster. The owner's dies with our process; the server's with the server's last process.
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

    /// For a new folder that nobody knows. The lock appears already taken, lest it be swept away as stale.
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
