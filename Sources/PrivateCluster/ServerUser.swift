import ChildProcesses
import Foundation
import Locking

/// The user that the server runs as: ourselves, or an unprivileged one when we are root.
struct ServerUser: Hashable {
    let userID: uid_t
    let groupID: gid_t

    private static let debianUser = "postgres"

    /// The user for the cluster in `path`: when we are root, whoever owns that folder already, else `postgres`.
    init(forDirectory path: String) throws {
        guard geteuid() == 0 else {
            (userID, groupID) = (geteuid(), getegid())
            return
        }
        #if canImport(Darwin)
            throw PrivateClusterError.noServerUser(
                reason: "on macOS nothing here needs root: run it as yourself")
        #else
            guard FileManager.default.isExecutableFile(atPath: Self.setpriv) else {
                throw PrivateClusterError.noServerUser(
                    reason: "\(Self.setpriv) (package util-linux) is missing")
            }
            if let owner = try ownerID(of: path), owner != 0, let entry = UserEntry(id: owner) {
                (userID, groupID) = (owner, entry.groupID)
            } else if let entry = UserEntry(name: Self.debianUser) {
                (userID, groupID) = (entry.id, entry.groupID)
            } else {
                throw PrivateClusterError.noServerUser(
                    reason: "there is no user \(Self.debianUser); run scripts/bootstrap")
            }
        #endif
    }

    private static let setpriv = "/usr/bin/setpriv"

    /// `command` so that it runs as this user, from a folder that every user may enter.
    func command(_ command: [String]) -> [String] {
        // PostgreSQL's programs complain about a working directory that is closed to them, as ours may be.
        let fromRoot = ["/bin/sh", "-c", #"cd / && exec "$@""#, "sh"] + command
        guard geteuid() == 0 else { return fromRoot }
        return [Self.setpriv, "--reuid=\(userID)", "--regid=\(groupID)", "--init-groups", "--"] + fromRoot
    }

    /// Whether this user may enter `path`, as the kernel decides, which knows about access lists too.
    func canEnter(_ path: String) throws -> Bool {
        guard geteuid() == 0 else { return access(path, X_OK) == 0 }
        return try ChildProcess.run(command(["/bin/sh", "-c", #"cd -- "$1" 2>/dev/null"#, "sh", path]))
            .exitCode == 0
    }

    /// Gives `path` itself to this user when we are root; never follows a link.
    func own(_ path: String) throws {
        guard geteuid() == 0 else { return }
        try check(lchown(path, userID, groupID), "chown \(path)")
    }
}

/// The owner of the file that a path leads to, or nil if there is none.
func ownerID(of path: String) throws -> uid_t? {
    var status = stat()
    guard stat(path, &status) == 0 else {
        guard errno == ENOENT || errno == ENOTDIR else {
            throw SystemCallError("stat \(path)", code: errno)
        }
        return nil
    }
    return status.st_uid
}

struct UserEntry {
    let id: uid_t
    let groupID: gid_t
    let name: String

    /// `getpwnam` and `getpwuid` return memory that all their callers share.
    private static let lock = Lock(())

    init?(name: String) { self.init { getpwnam(name)?.pointee } }

    init?(id: uid_t) { self.init { getpwuid(id)?.pointee } }

    private init?(_ find: () -> passwd?) {
        let found = Self.lock.withLock { _ in
            find().map { ($0.pw_uid, $0.pw_gid, String(cString: $0.pw_name)) }
        }
        guard let found else { return nil }
        (id, groupID, name) = found
    }
}
