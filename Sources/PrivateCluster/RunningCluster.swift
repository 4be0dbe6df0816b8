import ChildProcesses
import Foundation
import Locking

/// A cluster between `start` and `stop`: the folder and its locks are ours, the server usually runs.
final class RunningCluster {
    let installation: PostgresInstallation
    let socketFolder: String
    private let claim: ClaimedDirectory
    private let settings: [String: String]
    private var server: SupervisedServer?

    var directory: ClusterDirectory { claim.directory }

    /// Takes the folder, makes the data if it is missing and starts the server. After an error nothing is left
    /// running, and the folder is free again.
    init(storage: PrivateCluster.Storage, settings: [String: String]) throws {
        let claim = try ClaimedDirectory(storage)
        self.claim = claim
        self.settings = Self.defaultSettings(isEphemeral: claim.isEphemeral).merging(settings) { $1 }
        do {
            installation = try claim.prepareData()
            socketFolder = try claim.makeSocketFolder()
        } catch {
            claim.removeTransientFolders(socketFolder: nil)
            throw error
        }
        do {
            try startServer()
        } catch {
            close()
            throw error
        }
    }

    func startServer() throws {
        server?.stop(signal: PrivateCluster.ShutdownMode.fast.rawValue)
        server = try SupervisedServer(
            .init(
                user: claim.user, directory: directory, socketFolder: socketFolder,
                postgres: installation.program("postgres"), settings: settings,
                serverLock: claim.locks.server,
                removedIfAbandoned: claim.isEphemeral ? directory.path : socketFolder,
                modeIfAbandoned: lastMode))
    }

    func stopServer(_ mode: PrivateCluster.ShutdownMode) {
        // Sessions that are suspended would keep the stop waiting.
        signalServer(SIGCONT)
        server?.stop(signal: mode.rawValue)
        server = nil
    }

    /// Data that is removed anyway needs no writing out, and an immediate stop ends even sessions that hang.
    private var lastMode: PrivateCluster.ShutdownMode { claim.isEphemeral ? .immediate : .fast }

    var supervisorID: pid_t? { server?.supervisor.processID }

    /// Sends a signal to the postmaster first, so that it starts no more processes, and then to each of its children.
    func signalServer(_ signal: Int32) {
        guard server != nil, let postmaster = directory.postmasterID else { return }
        kill(postmaster, signal)
        for child in childProcessIDs(of: postmaster) { kill(child, signal) }
    }

    func crashServer() throws {
        guard let server else { throw PrivateClusterError.notRunning }
        directory.signalPostmaster(SIGKILL)
        server.log.waitUntilEnded()
    }

    func close() {
        stopServer(lastMode)
        claim.removeTransientFolders(socketFolder: socketFolder)
    }

    private static func defaultSettings(isEphemeral: Bool) -> [String: String] {
        let settings = [
            "listen_addresses": "", "unix_socket_permissions": "0700", "timezone": "UTC",
            // ServerLog reads untranslated lines from standard error.
            "log_timezone": "UTC", "lc_messages": "C", "log_destination": "stderr",
            "logging_collector": "off",
        ]
        let unsafeSettings = ["fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"]
        return isEphemeral ? settings.merging(unsafeSettings) { $1 } : settings
    }
}

/// The processes whose parent is that one.
private func childProcessIDs(of parent: pid_t) -> [pid_t] {
    #if canImport(Darwin)
        let output = try? ChildProcess.run(["/bin/ps", "-A", "-o", "ppid=,pid="])
        return (output?.standardOutput ?? "").split(separator: "\n").compactMap { line in
            let ids = line.split(separator: " ").compactMap { pid_t($0) }
            return ids.count == 2 && ids[0] == parent ? ids[1] : nil
        }
    #else
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { id in
            // The state and the parent follow the name, which may hold any character (proc(5)).
            let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
            let fields = status?.split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && pid_t(fields[1]) == parent
        }
    #endif
}

/// A cluster's folder once it is ours: found or made, with both locks taken and remains of killed runs removed.
private struct ClaimedDirectory {
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

    /// Removes what must not outlive the run. What cannot be removed is left to the next run.
    func removeTransientFolders(socketFolder: String?) {
        guard !isEphemeral else {
            try? user.remove([directory.path])
            return
        }
        unlink(directory.socketLink)
        if let socketFolder { try? user.remove([socketFolder]) }
    }
}

/// A fresh database for one test or suite, in the one ephemeral cluster that a test process has. The cluster starts with the
/// first database; it stops, and is removed, with the process.
package struct TestDatabase: Sendable {
    private static let sharedCluster = Result {
        let cluster = PrivateCluster(ephemeralWith: ["max_connections": "1500"])
        try cluster.start()
        return cluster
    }
    private static let count = Lock(0)

    /// Not to be stopped or crashed by any test of the process.
    package let cluster: PrivateCluster
    package let name: String
    package let connectionString: String

    /// Makes a new database, as a copy of `template` if given, which then must have no session.
    package init(template: TestDatabase? = nil) throws {
        cluster = try Self.sharedCluster.get()
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        name = "test_\(number)"
        connectionString = try cluster.connectionString(database: name)
        try cluster.createDatabase(name, template: template?.name)
    }

    @discardableResult
    package func execute(_ sql: String) throws -> String {
        try cluster.execute(sql, database: name)
    }

    /// Removes it, ending the sessions in it. What isn't dropped is removed with the cluster.
    package func drop() throws { try cluster.dropDatabase(name) }
}
