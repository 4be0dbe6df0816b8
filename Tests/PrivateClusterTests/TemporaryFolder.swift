import Foundation

/// A folder that every user may enter, unless `permissions` say otherwise; removed with its last reference.
final class TemporaryFolder: Sendable {
    let url: URL

    init(permissions: Int = 0o755) throws {
        url = URL(filePath: "/tmp/cluster-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    var path: String { url.path(percentEncoded: false) }

    /// The folder that a cluster in these tests is asked to use.
    var cluster: URL { url.appending(path: "cluster") }

    deinit {
        // A cluster that had to go elsewhere left a link here.
        if let elsewhere = try? FileManager.default.destinationOfSymbolicLink(atPath: cluster.path()) {
            try? FileManager.default.removeItem(atPath: elsewhere)
        }
        try? FileManager.default.removeItem(at: url)
    }
}
