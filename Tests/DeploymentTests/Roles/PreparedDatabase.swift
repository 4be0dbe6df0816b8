import Foundation
import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures

/// A database as a DBA prepares it: a PostgreSQL with the settings of `deploy/postgres/postgresql.conf`, and in it the
/// roles and the extension of `deploy/postgres/roles.sql`.
///
/// With a cluster of its own: roles are the whole cluster's.
struct PreparedDatabase {
    struct MigrationFailed: Error {
        let result: PoiProgram.Result
    }

    let cluster: PrivateCluster
    private static let name = "points_of_interest"

    /// - Parameters:
    ///   - folder: where the cluster and its log are; without one they are gone with this process.
    ///   - settings: parameters that win over the shipped ones.
    init(in folder: TemporaryFolder? = nil, settings: [String: String] = [:]) async throws {
        let settings = try Self.shippedSettings().merging(settings) { $1 }
        if let folder {
            cluster = PrivateCluster(directory: URL(filePath: folder.path + "/cluster"), settings: settings)
        } else {
            cluster = PrivateCluster(ephemeralWith: settings)
        }
        try await offPool { [cluster] in
            try cluster.start()
            try cluster.createDatabase(Self.name)
        }
        try await prepare()
    }

    /// Does what the DBA does, which may be repeated.
    func prepare(passwords: String = "") async throws {
        let script = try String(contentsOfFile: Self.deploy + "/postgres/roles.sql", encoding: .utf8)
        try await execute(passwords + script)
    }

    /// Applies the migrations, with the seeds, as a role.
    func migrate(as role: String = "poi_migrate") async throws {
        let environment = ["DATABASE_URL": try await url(role)]
        let result = try await PoiProgram.run(["migrate", "up", "--seeds"], environment: environment)
        guard result.exitCode == 0 else { throw MigrationFailed(result: result) }
    }

    /// A libpq URI for a role; `postgres` is the superuser.
    func url(_ role: String) async throws -> String {
        try await offPool { try cluster.connectionString(database: Self.name) }
            .replacing("postgresql://postgres@", with: "postgresql://\(role)@")
    }

    /// Runs SQL as the superuser, and returns its rows, one a line.
    @discardableResult
    func execute(_ sql: String) async throws -> String {
        try await offPool { try cluster.execute(sql, database: Self.name) }
    }

    /// The error that a role gets for a statement; nil if it may run it.
    func refusal(of sql: String, to role: String) async throws -> String? {
        do {
            // The role could take back the read-only default that it is given, so that doesn't count.
            let session = "SET default_transaction_read_only = off; SET SESSION AUTHORIZATION \(role); "
            try await execute(session + sql)
            return nil
        } catch PrivateClusterError.commandFailed(_, let output) {
            return output
        }
    }

    /// Stops the server, and returns all that it has logged.
    func logAfterStop() async throws -> String {
        try await offPool {
            try cluster.stopServer()
            return try String(contentsOf: cluster.directory().appending(path: "server.log"), encoding: .utf8)
        }
    }

    private static var deploy: String {
        PoiProgram.migrations.deletingLastPathComponent().appending(path: "deploy").path(
            percentEncoded: false)
    }

    /// The shipped file's lines, without where to listen: a private cluster has no port.
    private static func shippedSettings() throws -> [String: String] {
        let text = try String(contentsOfFile: deploy + "/postgres/postgresql.conf", encoding: .utf8)
        let setting = /([a-z_]+) = '?([^'\n]*)'?/
        var settings: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let match = line.wholeMatch(of: setting) else {
                throw CocoaError(.fileReadCorruptFile, userInfo: [NSDebugDescriptionErrorKey: "\(line)"])
            }
            settings[String(match.output.1)] = String(match.output.2)
        }
        settings["listen_addresses"] = nil
        return settings
    }
}
