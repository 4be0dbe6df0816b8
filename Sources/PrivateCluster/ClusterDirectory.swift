import ChildProcesses
import Foundation

/// Where a cluster keeps what it needs, and how that folder comes to be.
struct ClusterDirectory: Hashable {
    /// The real folder; the one asked for may be a link to it.
    let path: String

    /// PostgreSQL's data directory. It exists only once `initdb` has finished.
    var data: String { "\(path)/data" }
    /// Where `initdb` works until it has finished.
    var unfinishedData: String { "\(path)/data.new" }
    /// Held by the process that owns the cluster.
    var ownerLock: String { "\(path)/owner.lock" }
    /// Held by everything that touches the data: the server, all its processes, and `initdb`.
    var serverLock: String { "\(path)/server.lock" }
    var log: String { "\(path)/server.log" }
    /// The log of the run before.
    var previousLog: String { "\(path)/server.log.previous" }
    /// A link to the folder of the server's socket, while there is one.
    var socketLink: String { "\(path)/socket" }
    var postmasterPID: String { "\(data)/postmaster.pid" }

    /// The folder for sockets: their paths are limited to 107 bytes on Linux and 103 on macOS (unix(7)).
    static let shortFolder = "/tmp"
    static let shortPrefix = "poi-"
    /// Only root may write here, so that nobody else can lay a folder of this name in our way.
    private static let relocationFolder = "/var/lib"

    /// The folder for `requested`, made if missing, which `user` may use: elsewhere when it may not get there.
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
        guard mkdtemp(&template) != nil else {
            throw SystemCallError("mkdtemp", code: errno)
        }
        let path = template.withUnsafeBufferPointer { $0.baseAddress.map(String.init(cString:)) ?? "" }
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

    /// A link that leads nowhere is what remains when somebody removed the folder elsewhere.
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
