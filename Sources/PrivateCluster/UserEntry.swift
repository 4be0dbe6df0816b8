import Locking
import Foundation

/// A user as the system's database knows them.
struct UserEntry {
    let id: uid_t
    let groupID: gid_t
    let name: String

    /// getpwnam and getpwuid answer in memory that all their callers share.
    private static let lock = Lock(())

    init?(name: String) {
        self.init { getpwnam(name) }
    }

    init?(id: uid_t) {
        self.init { getpwuid(id) }
    }

    private init?(_ find: () -> UnsafeMutablePointer<passwd>?) {
        let found = Self.lock.withLock { _ in
            find().map { ($0.pointee.pw_uid, $0.pointee.pw_gid, String(cString: $0.pointee.pw_name)) }
        }
        guard let found else { return nil }
        (id, groupID, name) = found
    }
}
