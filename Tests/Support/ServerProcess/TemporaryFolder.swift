import Foundation

/// A new folder that every user may enter, unless `permissions` say otherwise.
///
/// PostgreSQL, started by root, runs as a user of its own and has to get there.
public struct TemporaryFolder: Sendable {
    /// The folder's path, without a slash at its end.
    public let path: String

    /// Makes the folder.
    public init(permissions: Int = 0o755) throws {
        path = "/tmp/points-of-interest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    /// Removes the folder with all its content.
    public func remove() {
        // A private cluster that had to go elsewhere has left a link.
        let cluster = path + "/postgres"
        if let elsewhere = try? FileManager.default.destinationOfSymbolicLink(atPath: cluster) {
            try? FileManager.default.removeItem(atPath: elsewhere)
        }
        try? FileManager.default.removeItem(atPath: path)
    }
}
