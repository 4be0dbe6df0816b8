import ChildProcesses
import Foundation

extension ClusterDirectory {
    /// Removes the socket folder of an earlier run that was killed together with its supervisor.
    /// To be called with both locks held.
    func removeStaleSocket(user: ServerUser) throws {
        guard let folder = readLink(socketLink) else { return }
        unlink(socketLink)
        if folder.hasPrefix("\(Self.shortFolder)/\(Self.shortPrefix)") { try user.remove([folder]) }
    }

    /// Removes the ephemeral clusters of killed runs whose supervisor was killed too.
    ///
    /// Waits for none of them, lest a server that hangs keep everybody from starting another: one that still runs
    /// is told to stop at once, and goes with its supervisor or at a later call.
    static func removeStaleEphemerals(user: ServerUser) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: shortFolder)) ?? []
        for name in names where name.hasPrefix(shortPrefix) {
            let directory = ClusterDirectory(path: "\(shortFolder)/\(name)")
            var status = stat()
            guard lstat(directory.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
                status.st_uid == user.userID,
                let owner = try? FileLock.acquireIfFree(path: directory.ownerLock, creating: false)
            else { continue }
            try withExtendedLifetime(owner) {
                if (try? FileLock.acquireIfFree(path: directory.serverLock)) != nil {
                    try user.remove([directory.path])
                } else {
                    directory.signalPostmaster(SIGQUIT)
                }
            }
        }
    }
}

extension ServerUser {
    /// Removes folders with all their content, with no more rights than this user has.
    func remove(_ paths: [String]) throws {
        let output = try ChildProcess.run(command(["/bin/rm", "-rf", "--"] + paths))
        guard output.exitCode == 0 else {
            throw PrivateClusterError.commandFailed(command: "rm", output: output.text)
        }
    }
}
