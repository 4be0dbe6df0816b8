import ChildProcesses
import Foundation

/// A cluster's folder once it is ours: found or made, with both locks taken and remains of killed runs removed.
struct ClaimedDirectory {
    let directory: ClusterDirectory
    let user: ServerUser
    let locks: ClusterLocks
    let isEphemeral: Bool
    private let storage: PrivateCluster.Storage

    init(_ storage: PrivateCluster.Storage) throws {
        self.storage = storage
        switch storage {
        case .ephemeral, .standby:
            user = try ServerUser(forDirectory: ClusterDirectory.shortFolder)
            try ClusterDirectory.removeStaleEphemerals(user: user)
            directory = ClusterDirectory(path: try ClusterDirectory.makeShortFolder(user: user))
            locks = try ClusterLocks(new: directory)
            isEphemeral = true
        case .persistent(let path):
            user = try ServerUser(forDirectory: path)
            directory = try ClusterDirectory.prepare(requested: path, user: user)
            locks = try ClusterLocks(takingOver: directory)
            try directory.removeStaleSocket(user: user)
            rename(directory.log, directory.previousLog)
            isEphemeral = false
        }
    }

    /// Makes the data directory if there is none, and returns the programs of its version.
    func prepareData() throws -> PostgresInstallation {
        guard let dataVersion = directory.dataVersion else {
            let installation = try PostgresInstallation.find()
            if case .standby(let primary) = storage {
                try directory.copy(
                    from: primary.socketFolder(), installation: installation, user: user, lock: locks.server)
            } else {
                try directory.initialize(
                    installation: installation, user: user, lock: locks.server, isEphemeral: isEphemeral)
            }
            return installation
        }
        let installation = try PostgresInstallation.find(dataVersion: Int(dataVersion))
        guard Int(dataVersion) == installation.majorVersion else {
            throw PrivateClusterError.incompatibleData(
                path: directory.data, dataVersion: dataVersion, installedVersion: installation.majorVersion)
        }
        return installation
    }

    /// The folder for the server's socket: a short path, which the cluster's own need not be.
    func makeSocketFolder() throws -> String {
        guard !isEphemeral else { return directory.path }
        let folder = try ClusterDirectory.makeShortFolder(user: user)
        try check(symlink(folder, directory.socketLink), "symlink \(directory.socketLink)")
        return folder
    }

    /// Removes what is not to outlive the run. What cannot be removed is left to the next run.
    func removeTransientFolders(socketFolder: String?) {
        guard !isEphemeral else {
            try? user.remove([directory.path])
            return
        }
        unlink(directory.socketLink)
        if let socketFolder { try? user.remove([socketFolder]) }
    }
}
