import PrivateCluster
import ServerProcess
import Testing

/// Databases for tests of the service, in the cluster that this process's tests share.
enum ServiceDatabase {
    private static let template = Task {
        let database = try TestDatabase()
        let result = try await PoiProgram.run(
            ["migrate", "up", "--seeds"], environment: ["DATABASE_URL": database.connectionString])
        #expect(result.exitCode == 0, "\(result)")
        return database
    }

    /// A fresh database with the schema and the seeds.
    static func migrated() async throws -> TestDatabase {
        let template = try await template.value
        return try await offPool { try TestDatabase(template: template) }
    }

    /// A fresh database with nothing in it.
    static func empty() async throws -> TestDatabase {
        try await offPool { try TestDatabase() }
    }
}
