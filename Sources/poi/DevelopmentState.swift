import Foundation
import PrivateCluster
import Program

/// What `poi dev` keeps between runs: a private PostgreSQL in a folder of its own.
struct DevelopmentState: Sendable {
    private let directory: URL
    private let cluster: PrivateCluster

    private static let database = "points_of_interest"

    /// Reads which folder that is.
    ///
    /// - Throws: `ConfigurationError` for a setting that isn't valid.
    init(from reader: inout SettingsReader) throws(ConfigurationError) {
        let path = try reader.read(
            .text(.stateDir, "where poi dev keeps its private PostgreSQL", default: ".local"))
        directory = URL(filePath: path, directoryHint: .isDirectory)
        cluster = PrivateCluster(directory: directory.appending(path: "postgres"))
    }

    /// Starts the server, which is created the first time; returns a libpq URI for the service's database.
    ///
    /// While the server runs, the URI is also in the folder's file `database-url`, for `make psql`.
    /// - Throws: `PrivateClusterError`; an error of Foundation where that file can't be written.
    func start() throws -> String {
        try cluster.start()
        if try !cluster.hasDatabase(Self.database) { try cluster.createDatabase(Self.database) }
        let url = try cluster.connectionString(database: Self.database)
        try Data((url + "\n").utf8).write(to: urlFile)
        return url
    }

    /// The folder of the server and its data, with symbolic links resolved.
    public var dataPath: String { directory.appending(path: "postgres").resolvingSymlinksInPath().path }

    /// Stops the server. It would also stop with the process, however that ends.
    func stop() {
        try? FileManager.default.removeItem(at: urlFile)
        cluster.stop()
    }

    private var urlFile: URL { directory.appending(path: "database-url") }
}
