import ChildProcesses
import Foundation

/// The folder of a cluster: the paths in it, and how it is made.
struct ClusterDirectory: Hashable {
    /// The real folder; the one asked for may be a link to it.
    let path: String

    /// PostgreSQL's data directory. It exists only once `initdb` has finished.
    var data: String { "\(path)/data" }
    /// Where `initdb` works until it has finished.
    var unfinishedData: String { "\(path)/data.new" }
    /// Held by the process that owns the cluster.
    var ownerLock: String { "\(path)/owner.lock" }
    /// Held by everything that touches the data: all processes of the server, and `initdb`.
    var serverLock: String { "\(path)/server.lock" }
    var log: String { "\(path)/server.log" }
    var previousLog: String { "\(path)/server.log.previous" }
    /// A link to the folder of the server's socket, while there is one.
    var socketLink: String { "\(path)/socket" }
    var postmasterPID: String { "\(data)/postmaster.pid" }

    /// The folder for sockets: their paths are limited to 107 bytes on Linux and 103 on macOS (unix(7)).
    static let shortFolder = "/tmp"
    static let shortPrefix = "poi-"
    /// Only root may write here, so that nobody else can make a folder of the name that we need.
    private static let relocationFolder = "/var/lib"

    /// The folder for `requested`, made if it is missing; where `user` may not enter the path, a folder elsewhere.
    static func prepare(requested: String, user: ServerUser) throws -> ClusterDirectory {
        if unlinkIfDangling(requested) { return try prepare(requested: requested, user: user) }
        let existing = realPath(requested)
        let parent = (existing ?? requested).deletingLastComponent
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        var path = "\(realPath(parent) ?? parent)/\((existing ?? requested).lastComponent)"
        if try !user.canEnter(parent) {
            let elsewhere = "\(relocationFolder)/poi-dev-\(hash(path))"
            if existing == nil {
                try check(symlink(elsewhere, path), "symlink \(path)")
            }
            path = elsewhere
        }
        try makePrivateFolder(path, user: user)
        return ClusterDirectory(path: path)
    }

    /// A new empty folder with a short path, private to `user`.
    static func makeShortFolder(user: ServerUser) throws -> String {
        var template = Array("\(shortFolder)/\(shortPrefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp", code: errno) }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try user.own(path)
        return path
    }

    private static func makePrivateFolder(_ path: String, user: ServerUser) throws {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw SystemCallError("mkdir \(path)", code: errno)
        }
        guard let owner = try ownerID(of: path), owner == user.userID || owner == geteuid() else {
            let name = try ownerID(of: path).flatMap { UserEntry(id: $0)?.name }
            throw PrivateClusterError.foreignDirectory(path: path, owner: name ?? "unknown")
        }
        try check(chmod(path, 0o700), "chmod \(path)")
        try user.own(path)
    }

    /// Removes a link that leads nowhere, as is left where the folder that it led to was removed.
    private static func unlinkIfDangling(_ path: String) -> Bool {
        realPath(path) == nil && readLink(path) != nil && unlink(path) == 0
    }

    /// FNV-1a, 64 bits: a stable name for a path, not a secret.
    private static func hash(_ path: String) -> String {
        let hash = path.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The path without links, or nil where there is nothing.
func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

/// What the symbolic link at `path` holds, or nil if there is none.
func readLink(_ path: String) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: path)
}

extension String {
    fileprivate var lastComponent: String { split(separator: "/").last.map(String.init) ?? "" }

    fileprivate var deletingLastComponent: String {
        let parent = split(separator: "/").dropLast().joined(separator: "/")
        return "/" + parent
    }
}

// MARK: - The data

extension ClusterDirectory {
    #if canImport(Darwin)
        private static let locale = "C"
    #else
        private static let locale = "C.UTF-8"
    #endif

    /// The major version that wrote the data, or nil where there is none yet.
    var dataVersion: String? {
        let text = try? String(contentsOfFile: "\(data)/PG_VERSION", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs `initdb`. The data directory appears complete or not at all, whenever we are killed.
    ///
    /// `initdb` inherits `lock`, since it runs on for a moment when we are killed: the next run waits for its end.
    func initialize(
        installation: PostgresInstallation, user: ServerUser, lock: FileLock, isEphemeral: Bool
    ) throws {
        try user.remove([unfinishedData])
        let initdb = [
            installation.program("initdb"), "--pgdata=\(unfinishedData)", "--username=postgres",
            "--auth=trust", "--encoding=UTF8", "--locale=\(Self.locale)", "--no-instructions",
        ]
        let output = try ChildProcess.run(
            user.command(initdb + (isEphemeral ? ["--no-sync"] : [])), inherited: lock.descriptor)
        guard output.exitCode == 0 else {
            throw PrivateClusterError.initializationFailed(output: output.text)
        }
        try check(rename(unfinishedData, data), "rename \(unfinishedData)")
    }

    /// Copies the data of a running server, found by its socket's folder, and sets it up as a standby of that server. As
    /// `initialize` does, it leaves complete data or none.
    func copy(from host: String, installation: PostgresInstallation, user: ServerUser, lock: FileLock) throws
    {
        try user.remove([unfinishedData])
        let backup = [
            installation.program("pg_basebackup"), "--pgdata=\(unfinishedData)", "--username=postgres",
            "--host=\(host)", "--no-password", "--checkpoint=fast", "--wal-method=stream",
            "--write-recovery-conf", "--no-sync",
        ]
        let output = try ChildProcess.run(user.command(backup), inherited: lock.descriptor)
        guard output.exitCode == 0 else {
            throw PrivateClusterError.initializationFailed(output: output.text)
        }
        try check(rename(unfinishedData, data), "rename \(unfinishedData)")
    }
}

// MARK: - Remains of killed runs

extension ClusterDirectory {
    /// Removes the socket folder of an earlier run that was killed together with its supervisor. Both locks must be held.
    func removeStaleSocket(user: ServerUser) throws {
        guard let folder = readLink(socketLink) else { return }
        unlink(socketLink)
        if folder.hasPrefix("\(Self.shortFolder)/\(Self.shortPrefix)") { try user.remove([folder]) }
    }

    /// Removes the ephemeral clusters of killed runs whose supervisor was killed too. Waits for none of them, since a server
    /// that hangs would keep everybody from starting another. One that still runs is told to stop at once, and is removed by
    /// its supervisor or by a later call.
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
    func remove(_ paths: [String]) throws {
        let output = try ChildProcess.run(command(["/bin/rm", "-rf", "--"] + paths))
        guard output.exitCode == 0 else {
            throw PrivateClusterError.commandFailed(command: "rm", output: output.text)
        }
    }
}
